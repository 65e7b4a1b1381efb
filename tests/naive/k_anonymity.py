"""k-anonymity counted with dictionaries."""

from collections import defaultdict
from collections.abc import Sequence


def smallest_class(
    rows: Sequence[dict[str, str]], quasi: Sequence[str], entity: str | None = None
) -> int | None:
    """The smallest number of rows, or of distinct persons, that share their quasi-identifiers."""
    classes: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for number, row in enumerate(rows):
        classes[tuple(row[name] for name in quasi)].append(str(number) if entity is None else row[entity])
    return min((len(set(persons)) for persons in classes.values()), default=None)
