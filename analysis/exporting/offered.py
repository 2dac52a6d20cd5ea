"""The exports that pages offer for download."""

from .service import KIND_OF_FORMAT, TABLE_FORMATS

DOWNLOADS = {
    "segments": "Segment scores",
    "documents": "Document scores",
    "systems": "System ranking",
    "ratings": "Ratings",
    "document-ratings": "Scores of whole documents",
    "rankings": "Ranks of outputs",
    "post-editions": "Post-editions",
    "editor-agreement": "Agreement between editors",
    "evidence": "Worker evidence",
    "signals": "Input signals",
    "reports": "Reported texts",
    "answers": "Answers about themselves",
    "likeness": "Likeness to metrics",
    "looks": "Looks at pairs of systems",
    "weights": "Weights of workers",
    "metrics": "Metric scores of segments",
    "system-metrics": "Metric scores of systems",
}
# Made from a gold run.
OF_A_RUN = ("segments", "documents", "systems", "weights")
DOWNLOAD_FORMATS = (*TABLE_FORMATS, *KIND_OF_FORMAT)
