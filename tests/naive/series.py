"""m-invariance person by person, in plain Python."""

from collections.abc import Mapping, Sequence

Release = tuple[Sequence[Sequence[str]], Mapping[str, Sequence[int]]]
"""A release: the secrets of each class, and the classes that each person may be in."""


def invariant(releases: Sequence[Release], m: int) -> bool:
    """Whether every class has m secrets, all different, and the classes that fit somebody have the same ones."""
    for classes, _ in releases:
        if any(len(secrets) < m or len(set(secrets)) < len(secrets) for secrets in classes):
            return False
    for person in {who for _, persons in releases for who in persons}:
        found = {
            frozenset(secret for place in persons[person] for secret in classes[place])
            for classes, persons in releases
            if persons.get(person)
        }
        if len(found) > 1:
            return False
    return True
