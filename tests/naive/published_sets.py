"""Groups and clusters as nested lists, and their canonical order by plain sorting."""

import json
from typing import Any

from shoal.data.clusters import Clusters
from shoal.data.groups import Groups


def canonical_groups(groups: list[dict[str, Any]]) -> list[str]:
    plain = [
        (sorted(sorted(basket) for basket in group["baskets"]), sorted(group["sensitive"].items()))
        for group in groups
    ]
    return [
        json.dumps({"baskets": baskets, "sensitive": dict(summary)}, ensure_ascii=False)
        for baskets, summary in sorted(plain)
    ]


def canonical_clusters(clusters: list[dict[str, Any]]) -> list[str]:
    return [
        json.dumps(plain, ensure_ascii=False)
        for _, plain in sorted(map(_cluster, clusters), key=lambda pair: pair[0])
    ]


def _cluster(cluster: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The sort key of a cluster, as documented, and the cluster in canonical order."""
    chunks = sorted(
        sorted(sorted(record) for record in chunk) for chunk in cluster.get("chunks", cluster.get("shared"))
    )
    if "size" in cluster:
        terms = sorted(cluster["terms"])
        return (0, [], chunks, terms, cluster["size"]), {
            "size": cluster["size"],
            "chunks": chunks,
            "terms": terms,
        }
    parts = sorted(map(_cluster, cluster["joint"]), key=lambda pair: pair[0])
    keys = [key for key, _ in parts]
    height = 1 + max(key[0] for key in keys)
    return (height, keys, chunks, [], 0), {"joint": [part for _, part in parts], "shared": chunks}


def groups_of(groups: list[dict[str, Any]]) -> Groups:
    """Groups in the order given."""
    baskets = [basket for group in groups for basket in group["baskets"]]
    summaries = [pair for group in groups for pair in group["sensitive"].items()]
    vocabulary = sorted({item for basket in baskets for item in basket} | {item for item, _ in summaries})
    return Groups(
        _indptr([len(group["baskets"]) for group in groups]),
        _indptr([len(basket) for basket in baskets]),
        [vocabulary.index(item) for basket in baskets for item in basket],
        _indptr([len(group["sensitive"]) for group in groups]),
        [vocabulary.index(item) for item, _ in summaries],
        [count for _, count in summaries],
        tuple(vocabulary),
    )


def clusters_of(clusters: list[dict[str, Any]]) -> Clusters:
    """Clusters in the given order; the parts of a joint cluster come after all clusters before it."""
    queue = [(cluster, -1) for cluster in clusters]
    place = 0
    while place < len(queue):
        queue += [(part, place) for part in queue[place][0].get("joint", [])]
        place += 1
    chunks = [cluster.get("chunks", cluster.get("shared")) for cluster, _ in queue]
    records = [record for own in chunks for chunk in own for record in chunk]
    terms = [cluster.get("terms", []) for cluster, _ in queue]
    vocabulary = sorted({item for record in records + terms for item in record})
    return Clusters(
        [parent for _, parent in queue],
        [cluster.get("size", 0) for cluster, _ in queue],
        _indptr([len(own) for own in chunks]),
        _indptr([len(chunk) for own in chunks for chunk in own]),
        _indptr([len(record) for record in records]),
        [vocabulary.index(item) for record in records for item in record],
        _indptr([len(own) for own in terms]),
        [vocabulary.index(item) for own in terms for item in own],
        tuple(vocabulary),
    )


def _indptr(lengths: list[int]) -> list[int]:
    return [sum(lengths[:place]) for place in range(len(lengths) + 1)]
