"""What an adversary finds in published baskets, groups and clusters who knows some items of some people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats, Items, Rows
from shoal.attacks._known_clusters import cluster_candidates
from shoal.attacks.attack import Attacked, Target, mean
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.release import Release

if TYPE_CHECKING:
    from shoal.attacks.attack import Attack

KNOWN = 2
"""Items that are known where no promise says how many."""

MORE = 2
"""So many more items than promised are tried."""


def promised_known(release: Release) -> int:
    """How many known items a release promises something about."""
    told = [promise.get("m", promise.get("p")) for promise in release.promises]
    degrees = {"privacy-degree"}
    found = [
        int(value)
        for value, promise in zip(told, release.promises, strict=True)
        if value is not None and promise.get("model") not in degrees
    ]
    return max(found, default=KNOWN)


def public_items(baskets: Baskets) -> Baskets:
    """The same baskets with the items alone that may be known."""
    wanted = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
    wanted[baskets.public] = True
    return baskets.keep(wanted)


def chosen_items(public: Baskets, rows: Rows, seed: int) -> list[list[str]]:
    """The public items of some baskets in random order: who knows m of them knows the first m."""
    rng = np.random.default_rng(seed)
    return [
        [public.vocabulary[_items(public, row)[item]] for item in rng.permutation(len(_items(public, row)))]
        for row in rows.tolist()
    ]


def _items(baskets: Baskets, row: int) -> Items:
    return baskets.items[baskets.indptr[row] : baskets.indptr[row + 1]]


class BasketsView:
    """Published baskets, ready to be asked who holds some items.

    A known item is looked for under its own text and under those of the nodes above it; an item of which nothing is
    published tells nothing.
    """

    def __init__(self, published: Baskets, original: Baskets) -> None:
        from scipy.sparse import csr_array

        self.published = published
        ones = np.ones(len(published.items), dtype=np.int8)
        shape = (len(published), len(published.vocabulary))
        self._by_item = csr_array((ones, published.items, published.indptr), shape=shape).tocsc()
        codes = {text: code for code, text in enumerate(published.vocabulary)}
        self._covers = {text: [code] for text, code in codes.items()}
        if original.hierarchy is not None:
            for path in original.hierarchy.paths():
                found = {codes[text] for text in path if text in codes}
                if found:
                    self._covers[path[0]] = sorted(found)

    def cohort(self, items: Sequence[str]) -> Rows | None:
        """The published baskets that fit known items, ascending; None where the items tell nothing."""
        lists = [self._holders(self._covers[item]) for item in items if item in self._covers]
        if not lists:
            return None
        lists.sort(key=len)
        found = lists[0]
        for other in lists[1:]:
            found = found[np.isin(found, other, assume_unique=True)]
        return found

    def _holders(self, codes: list[int]) -> Rows:
        bounds, rows = self._by_item.indptr, self._by_item.indices
        parts = [rows[bounds[code] : bounds[code + 1]] for code in codes]
        return np.asarray(parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts)), dtype=np.int64)


def linked_baskets(attack: "Attack", target: Target, known: int | None) -> Attacked | None:
    """Link people to their baskets, or in groups to their secrets."""
    data = target.release.data
    if isinstance(data, Groups):
        return _linked_secrets(attack, target, data)
    count = known or promised_known(target.release)
    public = public_items(target.original)
    able = np.flatnonzero(public.lengths)
    if not len(able):
        return None
    rows = able[attack.drawn(len(able))]
    orders = chosen_items(public, rows, attack.seed)
    if isinstance(data, Clusters):
        total = int(data.sizes.sum())
        ask = cluster_candidates(data)
    else:
        assert isinstance(data, Baskets)
        total = len(data)
        view = BasketsView(data, target.original)

        def ask(items: Sequence[str]) -> float:
            found = view.cohort(items)
            return float(total if found is None else len(found))

    chances = {
        level: np.array([_one_of(ask(order[:level])) for order in orders])
        for level in range(count, count + MORE + 1)
    }
    exact = chances[count]
    success, baseline = mean(exact), 1 / max(total, 1)
    words = (
        f"Who knows {count} items of a basket picks the right one with a chance of {success:.1%} on average and "
        f"{exact.max():.1%} at most, of {len(rows):,} people tried."
    )
    parts = {f"{level} known items": mean(found) for level, found in chances.items()}
    return Attacked(
        attack.name, success, baseline, baseline, len(rows), words, {**parts, "highest": float(exact.max())}
    )


def _one_of(candidates: float) -> float:
    return 1 / candidates if candidates else 0.0


def group_matches(original: Baskets, groups: Groups, rows: Rows) -> tuple[Rows, Rows]:
    """The published baskets whose public items are those of some people: places among the rows, and groups."""
    public = public_items(original).take(rows)
    codes = {text: code for code, text in enumerate(groups.vocabulary)}
    moved = np.array([codes.get(text, len(codes) + place) for place, text in enumerate(public.vocabulary)])
    published = len(groups.basket_indptr) - 1
    indptr = np.concatenate((groups.basket_indptr, groups.basket_indptr[-1] + public.indptr[1:]))
    mine = moved[public.items] if len(public.items) else np.empty(0, dtype=np.int64)
    kinds = ragged_ranks(indptr, np.concatenate((groups.items.astype(np.int64), mine)))
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    order = np.argsort(kinds[:published], kind="stable")
    ranked = kinds[:published][order]
    begin = np.searchsorted(ranked, kinds[published:], "left")
    counts = np.searchsorted(ranked, kinds[published:], "right") - begin
    places = np.repeat(np.arange(len(rows)), counts)
    inside = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places, group[order[np.repeat(begin, counts) + inside]]


def group_shares(groups: Groups) -> Any:
    """The share of each group that holds each item as a secret: groups by items, sparse."""
    from scipy.sparse import csr_array

    sizes = np.repeat(groups.sizes, np.diff(groups.sensitive_indptr))
    shape = (len(groups), len(groups.vocabulary))
    return csr_array(
        (groups.sensitive_counts / sizes, groups.sensitive_items, groups.sensitive_indptr), shape=shape
    )


def holders_of_secrets(original: Baskets) -> Rows:
    """The baskets that hold a sensitive item."""
    secret = np.zeros(len(original.vocabulary), dtype=np.bool_)
    secret[original.sensitive] = True
    held = np.concatenate(([0], np.cumsum(secret[original.items])))
    return np.flatnonzero(np.diff(held[original.indptr]) > 0)


def secret_matrix(original: Baskets, rows: Rows, vocabulary: Sequence[str]) -> Any:
    """Which secrets some people hold: people by items of a vocabulary, of 0 and 1, dense."""
    codes = {text: code for code, text in enumerate(vocabulary)}
    secret = set(original.sensitive.tolist())
    held = np.zeros((len(rows), len(vocabulary)), dtype=np.bool_)
    for place, row in enumerate(rows.tolist()):
        for item in _items(original, row).tolist():
            if item in secret and original.vocabulary[item] in codes:
                held[place, codes[original.vocabulary[item]]] = True
    return held


def _linked_secrets(attack: "Attack", target: Target, groups: Groups) -> Attacked | None:
    """The belief in a secret that somebody really has, for an adversary who knows all her public items."""
    original = target.original
    holders = holders_of_secrets(original)
    if not len(holders):
        return None
    rows = holders[attack.drawn(len(holders))]
    beliefs = group_beliefs(original, groups, rows)
    held = secret_matrix(original, rows, groups.vocabulary)
    own = np.where(held, beliefs, 0.0).max(axis=1)
    overall = (
        np.bincount(groups.sensitive_items, groups.sensitive_counts, len(groups.vocabulary))
        / groups.sizes.sum()
    )
    baseline = float(np.where(held, overall, 0.0).max(axis=1).mean())
    success = mean(own)
    words = (
        f"Who knows all public items of a person believes in a secret she has with {success:.1%} on average and "
        f"{own.max():.1%} at most, of {len(rows):,} people tried."
    )
    return Attacked(attack.name, success, baseline, baseline, len(rows), words, {"highest": float(own.max())})


def group_beliefs(original: Baskets, groups: Groups, rows: Rows) -> Floats:
    """How likely each of some people holds each secret, by the groups in which her public items stand."""
    from scipy.sparse import csr_array

    places, group = group_matches(original, groups, rows)
    there = csr_array((np.ones(len(places)), (places, group)), shape=(len(rows), len(groups)))
    found = np.bincount(places, minlength=len(rows))
    sums = (there @ group_shares(groups)).toarray()
    return np.asarray(
        np.round(sums / np.maximum(found, 1)[:, None], 12)
    )  # a mean of equal shares is that share


def guess_items(attack: "Attack", target: Target) -> Attacked | None:
    """Name a secret of people who hold one, by their public items."""
    original, data = target.original, target.release.data
    holders = holders_of_secrets(original)
    if not len(holders) or not isinstance(data, Baskets | Groups):
        return None
    rows = holders[attack.drawn(len(holders))]
    right, baseline = _named(attack, target.release, original, original, rows)
    outside = target.control
    others = np.empty(0, dtype=np.int64) if outside is None else holders_of_secrets(outside)
    if outside is not None and len(others):
        others = others[attack.drawn(len(others))]
        control = float(_named(attack, target.release, outside, original, others)[0].mean())
        who = "people outside of the release"
    else:
        control = _from_others(attack, target, rows)
        who = "what others with the same items hold"
    success = float(right.mean())
    words = (
        f"A secret is named right for {success:.1%} of {len(rows):,} people who have one; the most frequent secret is "
        f"right for {baseline:.1%}, and the control ({who}) for {control:.1%}."
    )
    return Attacked(attack.name, success, baseline, control, len(rows), words)


def _named(
    attack: "Attack", release: Release, people: Baskets, original: Baskets, rows: Rows
) -> tuple[Floats, float]:
    """Whether the secret that is named is one of each person, and the same for the most frequent one."""
    data = release.data
    assert isinstance(data, Baskets | Groups)
    held = secret_matrix(people, rows, data.vocabulary)
    if isinstance(data, Groups):
        scores = group_beliefs(people, data, rows)
        overall: Floats = np.bincount(
            data.sensitive_items, data.sensitive_counts.astype(np.float64), len(data.vocabulary)
        ).astype(np.float64)
    else:
        scores, overall = _cohort_shares(data, original, people, rows, release, attack.seed)
    guess = (scores + 1e-9 * overall / max(overall.sum(), 1)).argmax(axis=1)
    most = int(overall.argmax())
    return held[np.arange(len(rows)), guess].astype(np.float64), float(held[:, most].mean())


def _cohort_shares(
    data: Baskets, original: Baskets, people: Baskets, rows: Rows, release: Release, seed: int
) -> tuple[Floats, Floats]:
    """The share of each secret in the cohort of each person's known items, and how often it is published."""
    from scipy.sparse import csr_array

    secret = np.array(
        [text in {original.vocabulary[item] for item in original.sensitive} for text in data.vocabulary]
    )
    ones = np.ones(len(data.items))
    whole = csr_array((ones, data.items, data.indptr), shape=(len(data), len(data.vocabulary)))
    view, known = BasketsView(data, original), promised_known(release)
    scores = np.zeros((len(rows), len(data.vocabulary)))
    overall = np.asarray(whole.sum(axis=0)).ravel() * secret
    for place, order in enumerate(chosen_items(public_items(people), rows, seed)):
        cohort = view.cohort(order[:known])
        if cohort is None:
            scores[place] = overall / max(len(data), 1)
        elif len(cohort):
            scores[place] = np.asarray(whole[cohort].sum(axis=0)).ravel() / len(cohort)
    return scores * secret, overall


def _from_others(attack: "Attack", target: Target, rows: Rows) -> float:
    """The secret that most others in the original hold who have the same known items, without the person herself."""
    original = target.original
    release = Release(original, "none", {}, target.release.promises)
    scores, overall = _cohort_shares(original, original, original, rows, release, attack.seed)
    held = secret_matrix(original, rows, original.vocabulary)
    view, known = BasketsView(original, original), promised_known(release)
    sizes = np.array(
        [
            len(original) if (found := view.cohort(order[:known])) is None else len(found)
            for order in chosen_items(public_items(original), rows, attack.seed)
        ]
    )
    scores = scores * sizes[:, None] - held
    guess = (scores + 1e-9 * overall / max(overall.sum(), 1)).argmax(axis=1)
    return float(held[np.arange(len(rows)), guess].mean())
