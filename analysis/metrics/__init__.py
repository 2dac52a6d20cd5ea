"""Built-in metrics, which give every campaign baselines."""

# Listed here so that pages need not load sacreBLEU. See `catalogue` for the metrics themselves.
METRIC_NAMES = ("BLEU", "chrF", "TER", "sBLEU", "WER", "PER", "CDER")
