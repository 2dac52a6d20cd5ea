"""Built-in metrics, which give every campaign baselines."""

# Listed here so that pages need not load sacreBLEU. See `catalogue` for the metrics themselves.
DEFAULT_METRICS = ("BLEU", "chrF", "TER", "sBLEU", "WER", "PER", "CDER")
# Variants of TER are computed only on request: one of them is enough for a baseline.
METRIC_NAMES = (*DEFAULT_METRICS, "TER-cased", "TER-Moses")
# Tokenisers to choose from, by sacreBLEU's names; `none` for texts that are tokenised.
TOKENISERS = ("none", "13a", "intl", "zh", "char")
