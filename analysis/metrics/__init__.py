"""Metrics that the platform computes itself, so that every campaign has baselines at once."""

# Here, so that pages can name them without loading what computes them. See `catalogue`.
METRIC_NAMES = ("BLEU", "chrF", "TER", "sBLEU", "WER", "PER", "CDER")
