"""Published baskets in parts, judged where the parts lie.

Items are ranked, the rarest first, and divided among workers. A worker receives, of every basket that holds one of its
items, what comes from the first of these on; so it counts every set that begins with one of its items completely. A
frequent item begins only sets of items that are more frequent still, which keeps the shares of the workers alike.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import AnyArray, Codes, Counts, Items, Mask, owners, ranges
from shoal.data._basket_frames import cells_of, rows_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import BUCKET, Dataset, Parts
from shoal.data.verdict import SHOWN, Verdict
from shoal.errors import WrongUse
from shoal.mining.association_rules import parse_rule
from shoal.models._distributed import found_by_bucket
from shoal.models._exact import fraction
from shoal.models._release_checks import verdict_on, verdict_on_nothing
from shoal.models.hidden_associations import HiddenAssociations, Sides
from shoal.models.hkp_coherence import Broken, HkpCoherence, broken_sets, minimal
from shoal.models.km_anonymity import Combination, KmAnonymity, Rarity, rarest
from shoal.models.model import Model

ITEM_BYTES = 64
"""What an item of a basket takes in a worker while its sets are counted."""

FEWEST_SHARES, SMALL_SHARE = 16, 200_000
"""Items of all baskets are divided among so many workers, unless their shares would be smaller than that."""


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """How items are divided among workers."""

    known: Items  # the items that sets are made of, by rank
    rank: Codes  # the rank of each item; -1 for one that no set is made of
    secret: Codes  # the place of each item among the secrets; -1 for all others
    owner: Codes  # the worker of each rank

    @classmethod
    def of(cls, supports: Counts, known: Items, secrets: Items, workers: int) -> "_Shares":
        """Divide items: the rarest first, in turn."""
        ranked = known[np.argsort(supports[known], kind="stable")]
        rank, secret = np.full((2, len(supports)), -1, dtype=np.int32)
        rank[ranked] = np.arange(len(ranked), dtype=np.int32)
        secret[secrets] = np.arange(len(secrets), dtype=np.int32)
        return cls(ranked, rank, secret, np.arange(len(ranked), dtype=np.int32) % workers)


def verify_baskets(models: Sequence[Model], data: Dataset, memory: int) -> tuple[Verdict, ...]:
    """Judge published baskets in parts.

    `data`: the baskets. One more verdict comes at the end if they hold nothing, and one if their order is broken,
    where that can be found out. `memory`: bytes that one worker can give to it.
    """
    supports = data.parts.fold(partial(_supports, items=len(data.schema.vocabulary)), add)
    nothing = verdict_on_nothing(data.schema, tells=supports is not None and bool(supports.any()))
    last = () if nothing is None else (nothing,)
    if supports is None:
        return (*(model.verify(data.schema) for model in models), *last)
    judges: dict[type[Model], Callable[[Any, Dataset, Counts, int], Verdict]] = {
        HkpCoherence: _coherent,
        KmAnonymity: _anonymous,
        HiddenAssociations: _hidden,
    }
    for model in models:
        if type(model) not in judges:
            raise WrongUse(
                f"{model.name} cannot be judged on stream or spark; verify it with --engine local."
            )
    verdicts = tuple(model.remarked(judges[type(model)](model, data, supports, memory)) for model in models)
    disorder = None if data.order is None else verdict_on(data.order())
    return (*verdicts, *last, *(() if disorder is None else (disorder,)))


def _coherent(model: HkpCoherence, data: Dataset, supports: Counts, memory: int) -> Verdict:
    schema = data.schema
    counts = supports[schema.sensitive]
    if data.rows < model.k or (len(counts) and counts.max() > fraction(model.h) * data.rows):
        worst = int(counts.argmax()) if len(counts) and data.rows >= model.k else -1
        known = (-1, 0) if worst < 0 else (int(schema.sensitive[worst]), int(counts[worst]))
        return model.conclude_sets(data.rows, [Broken((), data.rows, *known)], schema)
    shares = _Shares.of(supports, schema.public, schema.sensitive, _workers(data, supports, memory))
    found = _shared(data.parts, shares, partial(_broken, model=model, shares=shares))
    least = min((one for one, _ in found if one is not None), default=data.rows)
    broken = minimal([one for _, some in found for one in some])
    return model.conclude_sets(min(least, data.rows), broken, schema)


def _anonymous(model: KmAnonymity, data: Dataset, supports: Counts, memory: int) -> Verdict:
    everything = np.arange(len(supports), dtype=np.int32)
    shares = _Shares.of(supports, everything, everything[:0], _workers(data, supports, memory))
    found: list[Rarity] = _shared(data.parts, shares, partial(_rarest, model=model, shares=shares))
    worst = sorted(
        (one for some in found for one in some.worst),
        key=lambda one: (one.support, len(one.items), one.items),
    )
    least = min((one.least for one in found if one.least is not None), default=None)
    whole = Rarity(least, sum(one.count for one in found), tuple(worst[:SHOWN]))
    return model.conclude_sets(whole, data.schema.vocabulary)


def _hidden(model: HiddenAssociations, data: Dataset, supports: Counts, memory: int) -> Verdict:
    least, vocabulary = model.least(data.rows), data.schema.vocabulary
    if model.rules:
        rules = [parse_rule(rule) for rule in model.rules]
        codes = {item: code for code, item in enumerate(vocabulary)}
        sides = [
            ([codes.get(item, -1) for item in left], [codes.get(item, -1) for item in right])
            for left, right in rules
        ]
        counts = data.parts.fold(partial(_of_rules, rules=sides), add)
        assert counts is not None
        counted = zip(rules, counts[:, 0].tolist(), counts[:, 1].tolist(), strict=True)
        return model.conclude_rules([one for one in counted if one[1] >= max(least, 1)], least, data.schema)
    everything = np.arange(len(supports), dtype=np.int32)
    shares = _Shares.of(supports, everything, everything[:0], _workers(data, supports, memory))
    work = partial(_frequent, shares=shares, least=max(least, 1), size=model.antecedent + 1)
    found = dict(pair for some in _shared(data.parts, shares, work) for pair in some)
    whole = set(range(len(vocabulary)) if model.scope == "all" else data.schema.sensitive.tolist())
    return model.conclude_rules(_rules(found, whole, vocabulary), least, data.schema)


def _rules(
    supports: dict[tuple[int, ...], int], whole: set[int], vocabulary: tuple[str, ...]
) -> Iterator[tuple[Sides, int, int]]:
    """The rules with one item on the right side, from the supports of all frequent sets."""
    for items, both in supports.items():
        for after in items if len(items) > 1 else ():
            if after in whole:
                before = tuple(item for item in items if item != after)
                sides = tuple(vocabulary[item] for item in before), (vocabulary[after],)
                yield sides, both, supports[before]


def _workers(data: Dataset, supports: Counts, memory: int) -> int:
    """Among how many workers items are divided."""
    total = int(supports.sum())
    # A basket goes to as many workers as it has items, at most, each time without what comes before.
    needed = -(-total * ITEM_BYTES * 4 // max(memory, 1))
    return max(needed, min(FEWEST_SHARES, total // SMALL_SHARE), 1)


def _shared(parts: Parts, shares: _Shares, work: Callable[[pl.DataFrame], Any]) -> list[Any]:
    """What workers find in their shares."""
    schema = {BUCKET: pl.Int32(), "items": pl.List(pl.Int32), "secrets": pl.List(pl.Int32)}
    return found_by_bucket(parts.map(partial(_divided, shares=shares), schema), work)


def _divided(frame: pl.DataFrame, shares: _Shares) -> pl.DataFrame:
    """Baskets as workers need them: from the first item of the worker on, by ranks; secrets come after all ranks."""
    indptr, items = rows_of(frame["items"])
    row = owners(indptr)
    known = np.flatnonzero(shares.rank[items] >= 0)
    order = known[np.lexsort((shares.rank[items[known]], row[known]))]
    ranks, rows = shares.rank[items[order]], row[order]
    ends = np.searchsorted(rows, np.arange(len(indptr) - 1), side="right")
    workers = int(shares.owner.max(initial=0)) + 1
    pairs, first = np.unique(rows * workers + shares.owner[ranks], return_index=True)
    of_row = pairs // workers
    kept, places = ranges(first, ends[of_row] - first)
    secret = np.flatnonzero(shares.secret[items] >= 0)
    starts = np.searchsorted(row[secret], np.arange(len(indptr)))
    listed, entries = ranges(starts[of_row], np.diff(starts)[of_row])
    return pl.DataFrame(
        [
            pl.Series(BUCKET, (pairs % workers).astype(np.int32)),
            cells_of("items", kept, ranks[places]),
            cells_of("secrets", listed, shares.secret[items[secret[entries]]] + len(shares.known)),
        ],
        schema={BUCKET: pl.Int32, "items": pl.List(pl.Int32), "secrets": pl.List(pl.Int32)},
    )


def _own(frame: pl.DataFrame, shares: _Shares) -> Mask:
    """The ranks that the worker of a frame counts the sets of."""
    mask: Mask = shares.owner == int(frame[BUCKET][0])
    return mask


def _broken(frame: pl.DataFrame, model: HkpCoherence, shares: _Shares) -> tuple[int | None, list[Broken]]:
    """The broken sets that begin with an item of the worker."""
    width, secrets = len(shares.known), int(shares.secret.max(initial=-1)) + 1
    together, items = rows_of(frame["items"].list.concat(frame["secrets"]))
    sensitive = np.arange(width, width + secrets, dtype=np.int32)
    baskets = Baskets(together, items, ("",) * (width + secrets), sensitive)
    firsts = np.concatenate([_own(frame, shares), np.zeros(secrets, dtype=np.bool_)])
    least, found = broken_sets(baskets, fraction(model.h), model.k, model.p, firsts)
    secret = np.flatnonzero(shares.secret >= 0)
    return least, [
        Broken(
            _items(one.items, shares),
            one.cohort,
            one.secret if one.secret < 0 else int(secret[one.secret - width]),
            one.count,
        )
        for one in found
    ]


def _rarest(frame: pl.DataFrame, model: KmAnonymity, shares: _Shares) -> Rarity:
    """The rarest combinations that begin with an item of the worker."""
    indptr, items = rows_of(frame["items"])
    groups = np.zeros(len(indptr) - 1, dtype=np.int64)
    found = rarest(groups, indptr, items, model.k, model.m, _own(frame, shares))
    worst = (Combination(0, _items(one.items, shares), one.support) for one in found.worst)
    return Rarity(found.least, found.count, tuple(worst))


def _frequent(
    frame: pl.DataFrame, shares: _Shares, least: int, size: int
) -> list[tuple[tuple[int, ...], int]]:
    """The frequent sets that begin with an item of the worker, and how many baskets hold each."""
    indptr, items = rows_of(frame["items"])
    rows = owners(indptr)
    order = np.argsort(items, kind="stable")
    bounds = np.searchsorted(items[order], np.arange(len(shares.known) + 1))
    holders = [rows[order[begin:end]] for begin, end in pairwise(bounds.tolist())]
    frequent = [rank for rank, held in enumerate(holders) if len(held) >= least]
    own = _own(frame, shares)
    stack: list[tuple[tuple[int, ...], AnyArray]] = [
        ((rank,), holders[rank]) for rank in frequent if own[rank]
    ]
    found = []
    while stack:
        ranks, held = stack.pop()
        found.append((_items(ranks, shares), len(held)))
        if len(ranks) == size:
            continue
        for other in frequent[np.searchsorted(frequent, ranks[-1], side="right") :]:
            both = np.intersect1d(held, holders[other], assume_unique=True)
            if len(both) >= least:
                stack.append(((*ranks, other), both))
    return found


def _items(ranks: Sequence[int], shares: _Shares) -> tuple[int, ...]:
    """The items of ranks, ascending."""
    return tuple(sorted(int(shares.known[rank]) for rank in ranks))


def _supports(frame: pl.DataFrame, items: int) -> Counts:
    return np.bincount(rows_of(frame["items"])[1], minlength=items).astype(np.int64)


def _of_rules(frame: pl.DataFrame, rules: list[tuple[list[int], list[int]]]) -> Counts:
    """How many baskets of a frame hold both sides of each rule, and its left side."""
    indptr, items = rows_of(frame["items"])
    rows = owners(indptr)

    def held(side: list[int]) -> Mask:
        mask: Mask = np.ones(len(indptr) - 1, dtype=np.bool_)
        for item in side:
            here = np.zeros(len(indptr) - 1, dtype=np.bool_)
            here[rows[items == item]] = True
            mask &= here
        return mask

    pairs = [(held(left), held(right)) for left, right in rules]
    return np.array([[int((left & right).sum()), int(left.sum())] for left, right in pairs], dtype=np.int64)
