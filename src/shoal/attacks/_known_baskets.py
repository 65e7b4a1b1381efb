"""What an adversary finds in published baskets, groups and clusters who knows some items of some people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import (
    Counts,
    Floats,
    Items,
    Mask,
    Rows,
    distinct,
    flagged,
    indptr_of,
    owners,
    ranges,
    taken,
)
from shoal.attacks._known_clusters import ClustersView
from shoal.attacks.attack import Attacked, Target, mean
from shoal.data._basket_orders import holders_of
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
    values = [promise.get("m", promise.get("p")) for promise in release.promises]
    degrees = {"privacy-degree"}
    found = [
        int(value)
        for value, promise in zip(values, release.promises, strict=True)
        if value is not None and promise.get("model") not in degrees
    ]
    return max(found, default=KNOWN)


def public_items(baskets: Baskets) -> Baskets:
    """The same baskets with the items alone that may be known."""
    return baskets.keep(flagged(baskets.public, len(baskets.vocabulary)))


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
        self.published = published
        self._holders_of = holders_of(published.indptr, published.items, len(published.vocabulary))
        codes = {text: code for code, text in enumerate(published.vocabulary)}
        self._covers = {text: [code] for text, code in codes.items()}
        if original.hierarchy is not None:
            for path in original.hierarchy.paths():
                found = {codes[text] for text in path if text in codes}
                if found:
                    self._covers[path[0]] = sorted(found)

    def recoded(self, people: Baskets) -> Baskets:
        """Other baskets as they would be published: under the texts above their items, without what nobody can see."""
        codes = [self._covers.get(text, []) for text in people.vocabulary]
        flat = np.array([code for one in codes for code in one], dtype=np.int64)
        held, entries = taken(indptr_of([len(one) for one in codes]), people.items)
        rows = np.repeat(owners(people.indptr), np.diff(held))
        width = max(len(self.published.vocabulary), 1)
        keys = distinct(rows * width + flat[entries])
        indptr = np.searchsorted(keys, np.arange(len(people) + 1) * width)
        return Baskets(indptr, (keys % width).astype(np.int32), self.published.vocabulary)

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
        bounds, rows = self._holders_of
        parts = [rows[bounds[code] : bounds[code + 1]] for code in codes]
        return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))


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
        clusters = ClustersView(data)

        def ask(items: Sequence[str]) -> float:
            return clusters.candidates(items)

    else:
        assert isinstance(data, Baskets)
        total = len(data)
        view = BasketsView(data, target.original)

        def holding(items: Sequence[str]) -> float:
            found = view.cohort(items)
            return float(total if found is None else len(found))

        ask = holding

    chances = {
        level: np.array([1 / found if (found := ask(order[:level])) else 0.0 for order in orders])
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
    found, entries = ranges(begin, counts)
    return owners(found), group[order[entries]]


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
    secret = flagged(original.sensitive, len(original.vocabulary))
    return np.flatnonzero(np.diff(indptr_of(secret[original.items])[original.indptr]) > 0)


def secret_matrix(people: Baskets, rows: Rows, vocabulary: Sequence[str]) -> Mask:
    """Which secrets some people hold: people by items of a vocabulary, of 0 and 1, dense."""
    return item_matrix(people, rows, vocabulary, flagged(people.sensitive, len(people.vocabulary)))


def item_matrix(people: Baskets, rows: Rows, vocabulary: Sequence[str], wanted: Mask | None = None) -> Mask:
    """Which items of a vocabulary some people hold: people by items, of 0 and 1, dense.

    `wanted`: the items of the people that count, by their codes; all by default.
    """
    codes = {text: code for code, text in enumerate(vocabulary)}
    moved = np.array([codes.get(text, -1) for text in people.vocabulary], dtype=np.int64)
    if wanted is not None:
        moved[~wanted] = -1
    some = people.take(rows)
    code, place = moved[some.items], np.repeat(np.arange(len(rows)), some.lengths)
    held = np.zeros((len(rows), len(vocabulary)), dtype=np.bool_)
    held[place[code >= 0], code[code >= 0]] = True
    return held


def _linked_secrets(attack: "Attack", target: Target, groups: Groups) -> Attacked | None:
    """The belief in a secret that somebody really has, for an adversary who knows all her public items."""
    original = target.original
    holders = holders_of_secrets(original)
    if not len(holders):
        return None
    rows = holders[attack.drawn(len(holders))]
    places, group = group_matches(original, groups, rows)
    beliefs, alike = _beliefs(groups, places, group, len(rows)), np.bincount(places, minlength=len(rows))
    held = secret_matrix(original, rows, groups.vocabulary)
    own = np.where(held, beliefs, 0.0).max(axis=1)
    overall = (
        np.bincount(groups.sensitive_items, groups.sensitive_counts, len(groups.vocabulary))
        / groups.sizes.sum()
    )
    baseline = float(np.where(held, overall, 0.0).max(axis=1).mean())
    success, found = mean(own), mean(np.where(alike > 0, 1 / np.maximum(alike, 1), 0.0))
    words = (
        f"Who knows all public items of a person believes in a secret she has with {success:.1%} on average and "
        f"{own.max():.1%} at most, of {len(rows):,} people tried who have one; her basket itself is found with a "
        f"chance of {found:.1%}."
    )
    parts = {"highest": float(own.max()), "basket found": found}
    return Attacked(attack.name, success, baseline, baseline, len(rows), words, parts)


def _beliefs(groups: Groups, places: Rows, group: Rows, people: int) -> Floats:
    """How likely each of some people holds each secret, by the groups in which her public items stand."""
    width = len(groups.vocabulary)
    held, entries = taken(groups.sensitive_indptr, group)
    secrets = np.repeat(places, np.diff(held)) * width + groups.sensitive_items[entries]
    shares = groups.sensitive_counts[entries] / np.repeat(groups.sizes[group], np.diff(held))
    sums = np.bincount(secrets, shares, people * width).reshape(people, width)
    found = np.bincount(places, minlength=people)
    # A mean of equal shares is that share.
    return np.asarray(np.round(sums / np.maximum(found, 1)[:, None], 12))


def guess_items(attack: "Attack", target: Target) -> Attacked | None:
    """Name a secret of people who hold one, by their public items.

    Where no item is called secret, any item of a cluster that is not known: who holds which items together is what
    clusters hide.
    """
    original = target.original
    rows = asked_people(attack, target.release, original)
    if not len(rows):
        return None
    beliefs = item_beliefs(target.release, original, original, rows, attack.seed)
    right, baseline = beliefs.right(), beliefs.most_frequent()
    control, who = outside_guess(attack, target, rows, baseline)
    success = float(right.mean())
    secrets = len(original.sensitive) > 0
    what, those = (
        ("A secret", " who have one, by a reader who knows that") if secrets else ("Another item", "")
    )
    words = (
        f"{what} is named right for {success:.1%} of {len(rows):,} people{those}; the most frequent one is right for "
        f"{baseline:.1%}, and the control ({who}) for {control:.1%}."
    )
    return Attacked(attack.name, success, baseline, control, len(rows), words)


def asked_people(attack: "Attack", release: Release, people: Baskets) -> Rows:
    """People who hold a secret, or in clusters without secrets more items than are known; some of them."""
    if len(people.sensitive):
        able = holders_of_secrets(people)
    elif isinstance(release.data, Clusters):
        able = np.flatnonzero(people.lengths > promised_known(release))
    else:
        able = np.empty(0, dtype=np.int64)
    return able[attack.drawn(len(able))]


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What an adversary thinks of some people."""

    scores: Floats
    """How likely each of them holds each item in question: people by published items. Others have 0."""
    held: Mask  # whether she does
    overall: Floats  # how frequent each item in question is
    vocabulary: tuple[str, ...]  # the published items
    fitting: Counts | None = (
        None  # how many published baskets fit what is known of each, in a release of baskets
    )

    def right(self) -> Floats:
        """Whether the likeliest item is one of each person; ties go to the more frequent one."""
        guess = (self.scores + 1e-9 * self.overall / max(float(self.overall.sum()), 1e-12)).argmax(axis=1)
        return np.asarray(self.held[np.arange(len(guess)), guess], dtype=np.float64)

    def most_frequent(self) -> float:
        """The share of the people who hold the most frequent item in question."""
        return float(self.held[:, int(self.overall.argmax())].mean()) if self.held.size else 0.0

    def beside(self, other: "Beliefs") -> "Beliefs":
        """What is thought with another release beside this one: an item that one of them rules out is ruled out."""
        codes = {text: code for code, text in enumerate(other.vocabulary)}
        moved = np.array([codes.get(text, len(codes)) for text in self.vocabulary], dtype=np.int64)
        second = np.hstack([other.scores, np.zeros((len(other.scores), 1))])[:, moved]
        silent = ~(second > 0).any(axis=1)
        shares = self.overall / max(float(self.overall.sum()), 1e-12)
        both = np.where(self.scores < 0, self.scores, self.scores * second / np.maximum(shares, 1e-12))
        silent |= ~(both > 0).any(axis=1)
        both[silent] = self.scores[silent]
        return replace(self, scores=both)


def item_beliefs(release: Release, people: Baskets, original: Baskets, rows: Rows, seed: int) -> Beliefs:
    """What an adversary thinks of some people after a look into a release.

    `people`, `rows`: the people; the original itself, or others. `original`: says what is secret, and has the
    hierarchy.
    """
    data = release.data
    assert isinstance(data, Baskets | Groups | Clusters)
    if isinstance(data, Groups):
        counted = np.bincount(data.sensitive_items, data.sensitive_counts, len(data.vocabulary))
        held = secret_matrix(people, rows, data.vocabulary)
        scores = _beliefs(data, *group_matches(people, data, rows), len(rows))
        return Beliefs(scores, held, counted.astype(np.float64), data.vocabulary)
    known = promised_known(release)
    orders = [order[:known] for order in chosen_items(public_items(people), rows, seed)]
    names = {original.vocabulary[item] for item in original.sensitive.tolist()}
    secret = np.array([text in names for text in data.vocabulary], dtype=np.bool_)
    fitting = None
    if isinstance(data, Baskets):
        scores, overall, fitting = _cohort_shares(data, original, orders)
    else:
        view = ClustersView(data)
        scores = np.array([view.beliefs(order) for order in orders]).reshape(len(rows), len(secret))
        overall = view.beliefs(())
    if names:
        held = secret_matrix(people, rows, data.vocabulary)
        return Beliefs(scores * secret, held, overall * secret, data.vocabulary, fitting)
    codes = {text: code for code, text in enumerate(data.vocabulary)}
    for place, order in enumerate(orders):
        scores[place, [codes[item] for item in order if item in codes]] = -1.0
    return Beliefs(scores, item_matrix(people, rows, data.vocabulary), overall, data.vocabulary, fitting)


def outside_guess(attack: "Attack", target: Target, rows: Rows, plain: float) -> tuple[float, str]:
    """How often the same is right about people outside of the release, and who they are.

    `plain`: how often a plain guess is right: nobody who knows more does worse.
    """
    original, outside = target.original, target.control
    others = np.empty(0, dtype=np.int64) if outside is None else asked_people(attack, target.release, outside)
    if outside is not None and len(others):
        found = item_beliefs(target.release, outside, original, others, attack.seed)
        return max(float(found.right().mean()), plain), "people outside of the release"
    return max(_from_others(attack, target, rows), plain), "what others with the same items hold"


def _cohort_shares(
    data: Baskets, original: Baskets, orders: Sequence[Sequence[str]]
) -> tuple[Floats, Floats, Counts]:
    """The share of each item in the cohort of each person's known items, how often it is published, and the cohorts'
    sizes.
    """
    view, width = BasketsView(data, original), len(data.vocabulary)
    scores, sizes = np.zeros((len(orders), width)), np.full(len(orders), len(data))
    overall = data.supports.astype(np.float64)
    for place, order in enumerate(orders):
        cohort = view.cohort(order)
        if cohort is None:
            scores[place] = overall / max(len(data), 1)
            continue
        sizes[place] = len(cohort)
        _, entries = taken(data.indptr, cohort)
        scores[place] = np.bincount(data.items[entries], minlength=width) / max(len(cohort), 1)
    return scores, overall, sizes


def _from_others(attack: "Attack", target: Target, rows: Rows) -> float:
    """The item that most others in the original hold who have the same known items, without the person herself."""
    original = target.original
    release: Release = Release(original, "none", {}, target.release.promises)
    found = item_beliefs(release, original, original, rows, attack.seed)
    assert found.fitting is not None
    own = np.where(found.scores > 0, found.held, 0)
    return float(replace(found, scores=found.scores * found.fitting[:, None] - own).right().mean())
