"""Simulated annealing: move rows between classes, and split, join and mix classes, to reduce information loss.

Every array that functions pass on adds to compile time. So facts that belong together share one array with several
columns, and the class that is being tried is stored next to the existing classes.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean
from shoal.kernels.drawing import below, chance

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

NODES, RANGES, SETS = 0, 1, 2
"""How the cells of a column are published."""

MOVE, SWAP, SPLIT, MERGE, MIX = 0, 1, 2, 3, 4
"""Kinds of steps; the last one pools two classes and splits them anew."""

SORTED = 256
"""Up to this many rows are sorted before they are split."""

MIXED = 8
"""Two classes are mixed if together they have at most this many times the fewest rows of a class."""

TRIES = 4
"""How many draws are made to find a near row in another class."""

TIES = 1e-9
"""A loss smaller than any difference between rows; multiplied by a random number, it breaks ties in nearness."""

FORBIDDEN = 1e12
"""The loss of a cell that must not be published."""

KIND, OFFSET, WIDTH, LEVELS, MISSING = 0, 1, 2, 3, 4
"""Facts about a column: how it is published, where its entries begin in `nodes` and `losses`, how many places and
levels it has, and the place of the missing value, which loses everything when mixed with others; -1 if there is none,
and for nodes."""

CLASS, AFTER, BEFORE = 0, 1, 2
"""Facts about a row: its class, and the next and the previous row of that class; -1 at the ends."""

HEAD, SIZE, LOCKED, FREE, PLACE, NEEDY, VERSION = 0, 1, 2, 3, 4, 5, 6
"""Facts about a class: its first row, its number of rows, and whether it is locked against further steps; the list of
unused class numbers, one entry per line, and the place of each number in that list; whether the class must be joined to
another one, and how often it has changed."""

LOW, HIGH, LOWER, HIGHER, HELD, LINES = 0, 1, 2, 3, 4, 5
"""What a class holds in a column, on `LINES` lines: the lowest and the highest place, both again without one row that
has it, and, for sets, the number of values."""

UNUSED, TOKEN = 0, 1
"""How many class numbers are unused, and the latest stamp for marking values as seen."""


class Cells(NamedTuple):
    """The cells of the rows, and their losses.

    `codes`: the place of each row (rows) in the order of each column (columns): leaves of a hierarchy from left to
    right, or values in ascending order, with the missing one last. `columns`: the facts about each column. `sets`: the
    columns that are published as sets. `nodes`: for columns published as nodes, the node above each place, level by
    level. `losses`: for nodes, the loss of that node; for ranges, the loss of the range from the first place to each
    one; for sets, the loss by number of values. Before a column's first entry: the loss of a suppressed cell.
    """

    codes: Array
    columns: Array
    sets: Array
    nodes: Array
    losses: Array


class Near(NamedTuple):
    """Near rows: the tuple of each row, where the rows of each tuple begin, and the nearest tuples of each tuple."""

    tuples: Array
    first: Array
    others: Array


class Classes(NamedTuple):
    """Classes of rows, each a doubly linked list.

    `rows`, `facts`: the facts about each row and each class. `costs`: the loss of each row of a class. `holds`: what
    each class holds (five lines) in each column; the last lines are for a class that is being tried, whose number is
    -1. `stamps`: for each entry of `losses`, when it was last seen. `counts`: see `UNUSED` and `TOKEN`.
    """

    rows: Array
    facts: Array
    costs: Array
    holds: Array
    stamps: Array
    counts: Array

    @property
    def of_row(self) -> Array:
        """The class of each row."""
        return self.rows[:, CLASS]

    @property
    def sizes(self) -> Array:
        """The number of rows of each class."""
        return self.facts[:, SIZE]


class Rules(NamedTuple):
    """The rules for every step.

    The fewest rows of a class, the most classes, the class of suppressed rows (or -1), whether these stay suppressed,
    and whether to lock the classes that a step has touched.
    """

    least: int
    most: int
    pool: int
    frozen: bool
    locking: bool


class Log(NamedTuple):
    """The steps that were taken.

    `moves`: the moved rows with the classes they came from. `steps`: for each step, where its rows begin, and its two
    classes. `counts`: how many rows and steps there are. No class is touched twice, so that there are at most as many
    rows as in the table, plus one for each step.
    """

    moves: Array
    steps: Array
    counts: Array


class Room(NamedTuple):
    """Working arrays: the random state, rows that may change their class, and how near each is to one of two rows."""

    random: Array
    rows: Array
    nearer: Array


@lean
def _begin(number: Whole, classes: Classes) -> None:
    """Begin to measure a class, without rows so far."""
    holds, line = classes.holds, LINES * number
    classes.counts[TOKEN] += 1
    for column in range(holds.shape[1]):
        holds[line + LOW, column] = holds[line + LOWER, column] = 1 << 30
        holds[line + HIGH, column] = holds[line + HIGHER, column] = -1
        holds[line + HELD, column] = 0


@lean
def _take(row: Whole, number: Whole, cells: Cells, classes: Classes) -> None:
    """Add a row to a class that is being measured."""
    holds, line = classes.holds, LINES * number
    for column in range(len(cells.columns)):
        code, low, high = cells.codes[row, column], holds[line + LOW, column], holds[line + HIGH, column]
        holds[line + LOWER, column] = min(holds[line + LOWER, column], max(low, code))
        holds[line + HIGHER, column] = max(holds[line + HIGHER, column], min(high, code))
        holds[line + LOW, column] = min(low, code)
        holds[line + HIGH, column] = max(high, code)
    for column in cells.sets:
        place = cells.columns[column, OFFSET] + cells.codes[row, column]
        if classes.stamps[place] != classes.counts[TOKEN]:
            classes.stamps[place] = classes.counts[TOKEN]
            holds[line + HELD, column] += 1


@lean
def _loss(number: Whole, cells: Cells, classes: Classes) -> float:
    """The loss of each row of a class, from what the class holds."""
    total, columns, holds, losses = 0.0, cells.columns, classes.holds, cells.losses
    line = LINES * number
    for column in range(len(columns)):
        low, high = holds[line + LOW, column], holds[line + HIGH, column]
        begin, kind = columns[column, OFFSET], columns[column, KIND]
        if kind == NODES:
            width, last = columns[column, WIDTH], begin + columns[column, LEVELS] * columns[column, WIDTH]
            while begin < last and cells.nodes[begin + low] != cells.nodes[begin + high]:
                begin += width
            if begin == last:
                return FORBIDDEN
            total += losses[begin + low]
        elif low == high:
            continue
        elif high == columns[column, MISSING]:
            total += losses[begin - 1]
        elif kind == RANGES:
            total += losses[begin + high] - losses[begin + low]
        else:
            total += losses[begin + holds[line + HELD, column]]
    return total


@lean
def _take_class(taken: Whole, number: Whole, cells: Cells, classes: Classes) -> None:
    """Add the rows of a class to one that is being measured."""
    row = classes.facts[taken, HEAD]
    while row >= 0:
        _take(row, number, cells, classes)
        row = classes.rows[row, AFTER]


@lean
def _changed(coming: Whole, going: Whole, number: Whole, cells: Cells, classes: Classes) -> float:
    """The loss of each row of a class when one row comes and another one goes; -1 stands for no row."""
    codes, holds, line = cells.codes, classes.holds, LINES * number
    if classes.facts[number, SIZE] == 1 and coming < 0:
        return 0.0
    for column in range(len(cells.columns)):
        low, high = holds[line + LOW, column], holds[line + HIGH, column]
        if going >= 0:
            low = holds[line + LOWER, column] if codes[going, column] == low else low
            high = holds[line + HIGHER, column] if codes[going, column] == high else high
        if coming >= 0:
            low, high = min(low, codes[coming, column]), max(high, codes[coming, column])
        holds[LOW - LINES, column], holds[HIGH - LINES, column] = low, high
    for column in cells.sets:
        new = codes[coming, column] if coming >= 0 else -1
        old = codes[going, column] if going >= 0 else -1
        held = holds[line + HELD, column]
        if new != old:
            held += new >= 0
            held -= old >= 0
            member, alike = classes.facts[number, HEAD], 0
            while member >= 0 and (new >= 0 or (old >= 0 and alike < 2)):
                code = codes[member, column]
                if code == new:
                    held -= 1
                    new = -1
                alike += code == old
                member = classes.rows[member, AFTER]
            held += alike > 1
        holds[HELD - LINES, column] = held
    return _loss(-1, cells, classes)


@lean
def united(one: Whole, other: Whole, cells: Cells, classes: Classes) -> float:
    """The loss of each row if two classes are joined."""
    holds, first, second = classes.holds, LINES * one, LINES * other
    if len(cells.sets):
        _begin(-1, classes)
        _take_class(one, -1, cells, classes)
        _take_class(other, -1, cells, classes)
    else:
        for column in range(len(cells.columns)):
            holds[LOW - LINES, column] = min(holds[first + LOW, column], holds[second + LOW, column])
            holds[HIGH - LINES, column] = max(holds[first + HIGH, column], holds[second + HIGH, column])
    return _loss(-1, cells, classes)


@lean
def pair(one: Whole, other: Whole, most: float, cells: Cells) -> float:
    """The loss of each of two rows in a class together; if it is above `most`, any number above that."""
    total, columns, losses = 0.0, cells.columns, cells.losses
    for column in range(len(columns)):
        low, high = cells.codes[one, column], cells.codes[other, column]
        begin, kind = columns[column, OFFSET], columns[column, KIND]
        if kind == NODES:
            width, last = columns[column, WIDTH], begin + columns[column, LEVELS] * columns[column, WIDTH]
            while begin < last and cells.nodes[begin + low] != cells.nodes[begin + high]:
                begin += width
            if begin == last:
                return FORBIDDEN
            total += losses[begin + low]
        elif low != high:
            if max(low, high) == columns[column, MISSING]:
                total += losses[begin - 1]
            elif kind == RANGES:
                total += abs(losses[begin + high] - losses[begin + low])
            else:
                total += losses[begin + 2]
        if total > most:
            break
    return total


@lean
def _put(row: Whole, number: Whole, classes: Classes) -> None:
    """Put a row at the head of a class."""
    head = classes.facts[number, HEAD]
    classes.rows[row, CLASS], classes.rows[row, AFTER], classes.rows[row, BEFORE] = number, head, -1
    if head >= 0:
        classes.rows[head, BEFORE] = row
    classes.facts[number, HEAD] = row
    classes.facts[number, SIZE] += 1


@lean
def relocate(row: Whole, target: Whole, classes: Classes) -> None:
    """Move a row to another class."""
    rows, facts, counts = classes.rows, classes.facts, classes.counts
    source, after, before = rows[row, CLASS], rows[row, AFTER], rows[row, BEFORE]
    if before >= 0:
        rows[before, AFTER] = after
    else:
        facts[source, HEAD] = after
    if after >= 0:
        rows[after, BEFORE] = before
    facts[source, SIZE] -= 1
    if facts[source, SIZE] == 0:
        facts[counts[UNUSED], FREE] = source
        facts[source, PLACE] = counts[UNUSED]
        counts[UNUSED] += 1
    if facts[target, SIZE] == 0:
        counts[UNUSED] -= 1
        last = facts[counts[UNUSED], FREE]
        facts[facts[target, PLACE], FREE] = last
        facts[last, PLACE] = facts[target, PLACE]
    _put(row, target, classes)


@lean
def build(cells: Cells, classes: Classes, pool: int) -> None:
    """Build the lists of classes from the class of each row, and compute their costs.

    The class of suppressed rows counts one row more than it has, so that its number never becomes unused.
    """
    facts = classes.facts
    for number in range(len(facts)):
        facts[number, HEAD], facts[number, SIZE] = -1, number == pool
    for row in range(len(classes.rows) - 1, -1, -1):
        _put(row, classes.rows[row, CLASS], classes)
    classes.counts[UNUSED] = 0
    for number in range(len(facts) - 1, -1, -1):
        if facts[number, SIZE] == 0:
            facts[classes.counts[UNUSED], FREE] = number
            facts[number, PLACE] = classes.counts[UNUSED]
            classes.counts[UNUSED] += 1
        elif number == pool:
            classes.costs[number] = 0.0
            for column in range(len(cells.columns)):
                classes.costs[number] += cells.losses[cells.columns[column, OFFSET] - 1]
        else:
            measure(number, cells, classes)


@lean
def measure(number: Whole, cells: Cells, classes: Classes) -> None:
    """Compute what a class holds, and its cost, from its rows."""
    _begin(number, classes)
    _take_class(number, number, cells, classes)
    classes.costs[number] = _loss(number, cells, classes)


@lean
def _listed(number: Whole, count: Whole, classes: Classes, room: Room) -> int:
    """List the rows of a class after `count` others; returns how many there are then."""
    member = classes.facts[number, HEAD]
    while member >= 0:
        room.rows[count] = member
        count += 1
        member = classes.rows[member, AFTER]
    return int(count)


@lean
def _arrange(row: Whole, count: Whole, cells: Cells, room: Room) -> int:
    """Put the listed rows that are nearer to a given row than to a random one first; returns how many these are.

    If the rows are few, they are sorted by how much nearer they are.
    """
    rows, order, left = room.rows, room.nearer, 0
    other = rows[below(room.random, count)]
    for turn in range(count):
        member, place = rows[turn], turn
        nearer = pair(member, row, FORBIDDEN, cells) - pair(member, other, FORBIDDEN, cells)
        nearer += TIES * (chance(room.random) - 0.5)
        if count <= SORTED:
            while place > 0 and order[place - 1] > nearer:
                order[place], rows[place] = order[place - 1], rows[place - 1]
                place -= 1
        elif nearer < 0.0:
            order[turn], rows[turn] = order[left], rows[left]
            place = left
        order[place], rows[place] = nearer, member
        left += nearer < 0.0
    return left


@lean
def _best_cut(
    first: Whole, last: Whole, size: Whole, cells: Cells, classes: Classes, room: Room
) -> tuple[int, float]:
    """The best place, within limits, to split the arranged rows, and their loss after the split."""
    best, where = np.inf, -1
    for behind in range(2):  # first the loss of the rows before each place, then that of the rows after it
        _begin(-1, classes)
        least = size - last if behind else first
        for turn in range(size - first if behind else last):
            _take(room.rows[size - 1 - turn if behind else turn], -1, cells, classes)
            if turn + 1 < least:
                continue
            lost = (turn + 1) * _loss(-1, cells, classes)
            if not behind:
                room.nearer[turn + 1] = lost
            elif room.nearer[size - 1 - turn] + lost < best:
                best, where = room.nearer[size - 1 - turn] + lost, int(size - 1 - turn)
    return where, best


@lean
def _part(
    row: Whole, there: Whole, most: float, cells: Cells, classes: Classes, least: int, room: Room
) -> int:
    """Split the rows of two classes anew, by how near they are to one row, and list those that change sides.

    If the second class has no rows, the first is split in two. Returns how many rows change, or -1 if too much is lost.
    """
    here = classes.rows[row, CLASS]
    size = _listed(there, _listed(here, 0, classes, room), classes, room)
    left = _arrange(row, size, cells, room)
    first, last = (least, size - least) if size <= SORTED else (left, left)
    if min(first, size - last) < least:
        return -1
    where, after = _best_cut(first, last, size, cells, classes, room)
    if after > most:
        return -1
    count = 0
    for place in range(size):
        member = room.rows[place]
        if classes.rows[member, CLASS] != (here if place < where else there):
            room.rows[count] = member
            count += 1
    return count


@lean
def _unused(number: Whole, classes: Classes, rules: Rules) -> int:
    """An unused number for a part of a class; -1 if the class cannot be split, or there may be no more classes."""
    free = classes.counts[UNUSED]
    used = len(classes.facts) - free - (rules.pool >= 0)
    large = classes.facts[number, SIZE] >= 2 * rules.least and classes.costs[number] > 0.0
    if number == rules.pool or not large or used >= rules.most or free == 0:
        return -1
    found = classes.facts[free - 1, FREE]
    return -1 if classes.facts[found, LOCKED] else int(found)


@lean
def _exchange(
    row: Whole, back: Whole, there: Whole, most: float, cells: Cells, classes: Classes, pool: int, room: Room
) -> int:
    """List a row that goes to another class and the row, if any, that comes back in exchange.

    `back`: the row that comes back, or -1. Returns how many rows move, or -1 if too much is lost.
    """
    here, facts, alone = classes.rows[row, CLASS], classes.facts, back < 0
    after = (facts[there, SIZE] + alone) * _changed(row, back, there, cells, classes)
    if after > most:
        return -1
    left = classes.costs[here] if here == pool else _changed(back, row, here, cells, classes)
    if after + (facts[here, SIZE] - alone) * left > most:
        return -1
    room.rows[0] = row
    if not alone:
        room.rows[1] = back
    return 1 if alone else 2


@lean
def _step(
    row: Whole, other: Whole, kind: int, most: float, cells: Cells, classes: Classes, rules: Rules, room: Room
) -> tuple[int, int]:
    """Try a step of a kind for two rows: list the rows that would move between their classes.

    Returns how many rows move, or -1 if the step is not taken; and the class other than that of the first row.
    """
    facts, costs, least = classes.facts, classes.costs, rules.least
    here, there = classes.rows[row, CLASS], classes.rows[other, CLASS]
    if kind == SPLIT:
        there = _unused(here, classes, rules)
        if there < 0:
            return -1, -1
    elif (
        (here == rules.pool and rules.frozen)
        or there in (here, rules.pool)
        or (costs[here] <= 0.0 and costs[there] <= 0.0)
    ):
        return -1, -1
    size = facts[here, SIZE] + facts[there, SIZE]
    most += facts[here, SIZE] * costs[here] + facts[there, SIZE] * costs[there]
    count = -1
    if here == rules.pool or kind in (MOVE, SWAP):
        back = np.int64(-1)
        if here != rules.pool and (kind == SWAP or facts[here, SIZE] <= least):
            # The row goes to the class of a near row, and a random row of that class comes back.
            back = facts[there, HEAD]
            for _ in range(below(room.random, facts[there, SIZE])):
                back = classes.rows[back, AFTER]
        count = _exchange(row, back, there, most, cells, classes, rules.pool, room)
    elif kind == MERGE:
        if size * united(here, there, cells, classes) <= most:
            count = _listed(here, 0, classes, room)
    elif kind == SPLIT or size <= min(MIXED * least, SORTED):
        count = _part(row, there, most, cells, classes, least, room)
    return count, int(there)


@lean
def _near_row(row: Whole, near: Near, rows: Array, random: Array) -> int:
    """A random near row, of another class if a few draws find one; nearer rows are drawn more often."""
    other, width = row, near.others.shape[1]
    for _ in range(TRIES):
        share = chance(random)
        tuple_ = near.others[near.tuples[row], int(width * share * share)]
        if tuple_ >= 0:
            begin = near.first[tuple_]
            other = begin + below(random, near.first[tuple_ + 1] - begin)
            if rows[other, CLASS] != rows[row, CLASS]:
                break
    return int(other)


@lean
def _go(
    count: Whole,
    here: Whole,
    there: Whole,
    cells: Cells,
    classes: Classes,
    rules: Rules,
    room: Room,
    log: Log,
) -> None:
    """Move each listed row from one of two classes to the other, and log where it came from."""
    step, moved = log.counts[1], log.counts[0]
    for place in range(count):
        row = room.rows[place]
        origin = classes.rows[row, CLASS]
        if rules.locking:
            log.moves[moved + place, 0], log.moves[moved + place, 1] = row, origin
        relocate(row, there if origin == here else here, classes)
    for number in range(2):
        touched = here if number else there
        if touched != rules.pool and classes.facts[touched, SIZE] > 0:
            measure(touched, cells, classes)
        if rules.locking:
            log.steps[step, 1 + number] = touched
            classes.facts[touched, LOCKED] = touched != rules.pool
    if rules.locking:
        log.steps[step, 0] = moved
        log.counts[0], log.counts[1] = moved + count, step + 1


@lean
def anneal(
    steps: int, heat: float, cells: Cells, near: Near, classes: Classes, rules: Rules, room: Room, log: Log
) -> int:
    """Try a number of steps at one temperature, or fewer if the log is full; returns how many were tried.

    `heat`: the temperature; a step that increases the loss by this much is accepted with probability 1/e.
    """
    rows, facts, random = classes.rows, classes.facts, room.random
    for step in range(steps):
        if rules.locking and log.counts[1] == len(log.steps):
            return step
        row = below(random, len(rows))
        if classes.costs[rows[row, CLASS]] <= 0.0:  # little to gain there: draw again
            row = below(random, len(rows))
        here, other = rows[row, CLASS], _near_row(row, near, rows, random)
        drawn = below(random, 64)
        kind = (drawn >= 22) + (drawn >= 36) + (drawn >= 38) + (drawn >= 40)
        if facts[here, LOCKED] or (kind != SPLIT and facts[rows[other, CLASS], LOCKED]):
            continue
        allowance = -heat * math.log(1.0 - chance(random))  # by how much the loss may grow, drawn at random
        count, there = _step(row, other, kind, allowance, cells, classes, rules, room)
        if count >= 0:
            _go(count, here, there, cells, classes, rules, room, log)
    return steps


@lean
def undo(broken: Array, cells: Cells, classes: Classes, log: Log, pool: int) -> None:
    """Undo the steps that broke a promise, and unlock all classes."""
    end = log.counts[0]
    for step in range(log.counts[1] - 1, -1, -1):
        begin = log.steps[step, 0]
        if broken[step]:
            for place in range(end - 1, begin - 1, -1):
                relocate(log.moves[place, 0], log.moves[place, 1], classes)
            for side in range(1, 3):
                number = log.steps[step, side]
                if number != pool and classes.facts[number, SIZE] > 0:
                    measure(number, cells, classes)
        end = begin
    for number in range(len(classes.facts)):
        classes.facts[number, LOCKED] = 0
    log.counts[0] = log.counts[1] = 0
