"""What rankings say about systems: scores with rank ranges and clusters, wins, and agreement between judges."""
