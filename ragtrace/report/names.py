"""What people call the metrics."""

METRIC_NAMES = {
    "recall": "recall@{k}",
    "whole_recall": "whole in one hit@{k}",
    "hit": "hit@{k}",
    "precision": "precision@{k}",
    "reciprocal_rank": "MRR",
    "ndcg": "nDCG@{k}",
    "text_recall": "text recall",
    "text_precision": "text precision",
    "text_iou": "text IoU",
}


def metric_name(name: str, k: int) -> str:
    """Return what people call a metric.

    >>> metric_name("recall", 5)
    'recall@5'
    """
    return METRIC_NAMES.get(name, name).format(k=k)
