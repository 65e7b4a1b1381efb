"""Simulated annealing: rows that move between classes, and classes that part and join, so that less is lost."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

NODES, RANGES, SETS = 0, 1, 2
"""What the cells of a column are published as."""

MOVE, SWAP, SPLIT, MERGE = 0, 1, 2, 3
"""Kinds of steps."""

SORTED = 64
"""Rows of a class up to which they are sorted to be parted."""

FORBIDDEN = 1e12
"""The loss of a cell that must not be published."""


class Cells(NamedTuple):
    """What the cells of rows are, and what they lose.

    `codes`: the place of each row (rows) in the order of each column (columns): leaves of a hierarchy from left to
    right, or values in ascending order, with the missing one last. `kinds`, `sets`: what each column is published as,
    and the columns that are published as sets. `offsets`, `widths`, `levels`: where the entries of each column begin in
    `nodes` and `losses`, how many places it has, and how many levels. `nodes`: of a column by nodes: the node above
    each place, level by level. `losses`: by nodes: the loss of that node. By ranges: the loss of the range from the
    first place to each one. By sets: the loss of each number of values. `stars`: the loss of a cell that tells nothing,
    for each column. `missing`: the place of the missing value, whose mixture with others tells nothing; -1 where there
    is none, and by nodes.
    """

    codes: Array
    kinds: Array
    sets: Array
    offsets: Array
    widths: Array
    levels: Array
    nodes: Array
    losses: Array
    stars: Array
    missing: Array


class Near(NamedTuple):
    """Which rows to look at beside one: the tuple of each row, where the rows of each begin, and the nearest tuples."""

    tuples: Array
    first: Array
    others: Array


class Classes(NamedTuple):
    """Classes of rows, each a list in both directions.

    `of_row`, `after`, `before`: the class of each row, and the next and the last row of it; -1 at the ends. `head`,
    `sizes`, `costs`: the first row of each class, its rows, and what each of them loses. `low`, `high`, `held`: the
    lowest and the highest place of each class (rows) in each column, and its number of values in the columns by sets.
    `free`, `place`: the numbers of classes without rows, and where each stands among these. `counts`: how many classes
    are free. `locked`: classes that no further step may touch.
    """

    of_row: Array
    after: Array
    before: Array
    head: Array
    sizes: Array
    costs: Array
    low: Array
    high: Array
    held: Array
    free: Array
    place: Array
    counts: Array
    locked: Array


class Rules(NamedTuple):
    """What every step keeps to.

    The fewest rows of a class, the most classes, the class of the suppressed rows (or -1), whether these stay
    suppressed, and whether to lock.
    """

    least: int
    most: int
    pool: int
    frozen: bool
    locking: bool


class Log(NamedTuple):
    """Steps that were taken: their rows with the classes they came from, and for each step where these begin.

    `touched` are the two classes of a step; `counts` says how many rows and steps there are. No class is touched twice,
    so that there are at most as many rows as in the table, and one more for each step.
    """

    rows: Array
    origins: Array
    begins: Array
    touched: Array
    counts: Array


class Room(NamedTuple):
    """Where to work: what a class holds, stamps of the values seen, random numbers, and rows that are parted."""

    low: Array
    high: Array
    held: Array
    stamps: Array
    token: Array
    random: Array
    rows: Array
    nearer: Array


@jit
def _draw(random: Array) -> np.uint64:
    """The next number of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    value = random[0]
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.uint64 = value ^ (value >> np.uint64(31))
    return mixed


@jit
def _below(random: Array, limit: Whole) -> int:
    """A whole number from 0 on, below a limit."""
    return np.int64((_draw(random) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))  # type: ignore[return-value]


@jit
def _chance(random: Array) -> float:
    """A number from 0 to 1."""
    return float(_draw(random) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def _begin(cells: Cells, room: Room) -> None:
    """Begin a class without rows."""
    room.token[0] += 1
    for column in range(len(cells.kinds)):
        room.low[column] = 1 << 30
        room.high[column] = -1
        room.held[column] = 0


@jit
def _take(row: Whole, cells: Cells, room: Room) -> None:
    """Take a row into the class that is being measured."""
    for column in range(len(cells.kinds)):
        code = cells.codes[row, column]
        room.low[column] = min(room.low[column], code)
        room.high[column] = max(room.high[column], code)
    for column in cells.sets:
        place = cells.offsets[column] + cells.codes[row, column]
        if room.stamps[place] != room.token[0]:
            room.stamps[place] = room.token[0]
            room.held[column] += 1


@jit
def _loss(cells: Cells, room: Room) -> float:
    """What each row of the class that was measured loses."""
    total = 0.0
    for column in range(len(cells.kinds)):
        low, high, begin = room.low[column], room.high[column], cells.offsets[column]
        if cells.kinds[column] == NODES:
            width, level = cells.widths[column], 0
            if low != high:
                while (
                    level < cells.levels[column]
                    and cells.nodes[begin + level * width + low] != cells.nodes[begin + level * width + high]
                ):
                    level += 1
            if level == cells.levels[column]:
                return FORBIDDEN
            total += cells.losses[begin + level * width + low]
        elif low == high:
            continue
        elif high == cells.missing[column]:
            total += cells.stars[column]
        elif cells.kinds[column] == RANGES:
            total += cells.losses[begin + high] - cells.losses[begin + low]
        else:
            total += cells.losses[begin + room.held[column]]
    return total


@jit
def _take_class(number: Whole, skipped: Whole, cells: Cells, classes: Classes, room: Room) -> None:
    """Take the rows of a class into the one that is being measured, without one of them."""
    row = classes.head[number]
    while row >= 0:
        if row != skipped:
            _take(row, cells, room)
        row = classes.after[row]


@jit
def _without(row: Whole, number: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of a class loses without one of them."""
    if classes.costs[number] <= 0.0 or classes.sizes[number] == 1:
        return float(min(classes.costs[number], 0.0))
    _begin(cells, room)
    _take_class(number, row, cells, classes, room)
    return _loss(cells, room)


@jit
def _with(row: Whole, number: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of a class loses with one more."""
    for column in range(len(cells.kinds)):
        code = cells.codes[row, column]
        room.low[column] = min(classes.low[number, column], code)
        room.high[column] = max(classes.high[number, column], code)
    for column in cells.sets:
        code, member = cells.codes[row, column], classes.head[number]
        while member >= 0 and cells.codes[member, column] != code:
            member = classes.after[member]
        room.held[column] = classes.held[number, column] + (member < 0)
    return _loss(cells, room)


@jit
def _instead(row: Whole, other: Whole, number: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of a class loses with one more, and without another one."""
    _begin(cells, room)
    _take(row, cells, room)
    if classes.costs[number] > 0.0:
        _take_class(number, other, cells, classes, room)
    elif classes.sizes[number] > 1:
        # All of its rows look the same.
        _take(other, cells, room)
    return _loss(cells, room)


@jit
def united(one: Whole, other: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of two classes loses together."""
    for column in range(len(cells.kinds)):
        room.low[column] = min(classes.low[one, column], classes.low[other, column])
        room.high[column] = max(classes.high[one, column], classes.high[other, column])
    if len(cells.sets):
        _begin(cells, room)
        _take_class(one, -1, cells, classes, room)
        _take_class(other, -1, cells, classes, room)
    return _loss(cells, room)


@jit
def pair(one: Whole, other: Whole, most: float, cells: Cells) -> float:
    """What two rows lose together, each; or something above `most`, where it is more than that."""
    total = 0.0
    for column in range(len(cells.kinds)):
        low, high = cells.codes[one, column], cells.codes[other, column]
        begin, kind = cells.offsets[column], cells.kinds[column]
        if kind == NODES:
            width, last = cells.widths[column], begin + cells.levels[column] * cells.widths[column]
            while begin < last and cells.nodes[begin + low] != cells.nodes[begin + high]:
                begin += width
            if begin == last:
                return FORBIDDEN
            total += cells.losses[begin + low]
        elif low != high:
            if max(low, high) == cells.missing[column]:
                total += cells.stars[column]
            elif kind == RANGES:
                total += abs(cells.losses[begin + high] - cells.losses[begin + low])
            else:
                total += cells.losses[begin + 2]
        if total > most:
            break
    return total


@jit
def relocate(row: Whole, target: Whole, classes: Classes) -> None:
    """Move a row to another class."""
    source = classes.of_row[row]
    after, before = classes.after[row], classes.before[row]
    if before >= 0:
        classes.after[before] = after
    else:
        classes.head[source] = after
    if after >= 0:
        classes.before[after] = before
    classes.sizes[source] -= 1
    if classes.sizes[source] == 0:
        classes.free[classes.counts[0]] = source
        classes.place[source] = classes.counts[0]
        classes.counts[0] += 1
    if classes.sizes[target] == 0:
        classes.counts[0] -= 1
        last = classes.free[classes.counts[0]]
        classes.free[classes.place[target]] = last
        classes.place[last] = classes.place[target]
    head = classes.head[target]
    classes.after[row], classes.before[row] = head, -1
    if head >= 0:
        classes.before[head] = row
    classes.head[target] = row
    classes.sizes[target] += 1
    classes.of_row[row] = target


@jit
def build(cells: Cells, classes: Classes, room: Room, pool: int) -> None:
    """Fill the lists of classes from the class of each row, and compute their costs.

    The class of suppressed rows counts one more than it has, so that it never becomes free.
    """
    classes.head[:] = -1
    classes.sizes[:] = 0
    for row in range(len(classes.of_row) - 1, -1, -1):
        number = classes.of_row[row]
        head = classes.head[number]
        classes.after[row], classes.before[row] = head, -1
        if head >= 0:
            classes.before[head] = row
        classes.head[number] = row
        classes.sizes[number] += 1
    if pool >= 0:
        classes.sizes[pool] += 1
    classes.counts[0] = 0
    for number in range(len(classes.head) - 1, -1, -1):
        if classes.sizes[number] == 0:
            classes.free[classes.counts[0]] = number
            classes.place[number] = classes.counts[0]
            classes.counts[0] += 1
        elif number == pool:
            classes.costs[number] = 0.0
            for star in cells.stars:
                classes.costs[number] += star
        else:
            measure(number, cells, classes, room)


@jit
def measure(number: Whole, cells: Cells, classes: Classes, room: Room) -> None:
    """Compute from its rows what a class holds, and its cost."""
    _begin(cells, room)
    _take_class(number, -1, cells, classes, room)
    classes.costs[number] = _loss(cells, room)
    for column in range(len(cells.kinds)):
        classes.low[number, column] = room.low[column]
        classes.high[number, column] = room.high[column]
        classes.held[number, column] = room.held[column]


@jit
def _noted(row: Whole, target: Whole, classes: Classes, log: Log, locking: bool) -> None:
    """Move a row, and note where it came from."""
    if locking:
        log.rows[log.counts[0]] = row
        log.origins[log.counts[0]] = classes.of_row[row]
        log.counts[0] += 1
    relocate(row, target, classes)


@jit
def _allowance(heat: float, random: Array) -> float:
    """How much more a step may lose to be taken: nothing, or something by chance."""
    return -heat * math.log(1.0 - _chance(random))


@jit
def _arrange(row: Whole, other: Whole, cells: Cells, classes: Classes, room: Room) -> int:
    """Put the rows of a class that are nearer to one of them than to another before the rest; how many they are.

    Those of a small class are put in the order of how much nearer they are.
    """
    source = classes.of_row[row]
    sorting = classes.sizes[source] <= SORTED
    member, count, left = classes.head[source], 0, 0
    while member >= 0:
        nearer = pair(member, row, FORBIDDEN, cells) - pair(member, other, FORBIDDEN, cells)
        place = count
        if sorting:
            while place > 0 and room.nearer[place - 1] > nearer:
                room.nearer[place], room.rows[place] = room.nearer[place - 1], room.rows[place - 1]
                place -= 1
        elif nearer < 0.0:
            room.nearer[count], room.rows[count] = room.nearer[left], room.rows[left]
            place = left
        room.nearer[place], room.rows[place] = nearer, member
        left += nearer < 0.0
        count += 1
        member = classes.after[member]
    return left


@jit
def _split(
    row: Whole, other: Whole, most: float, cells: Cells, classes: Classes, rules: Rules, room: Room, log: Log
) -> int:
    """Part a class into the rows that are nearer to one of its rows and those nearer to another; the new class."""
    source = classes.of_row[row]
    size = classes.sizes[source]
    fresh = classes.free[classes.counts[0] - 1]
    if classes.locked[fresh]:
        return -1
    left = _arrange(row, other, cells, classes, room)
    if size <= SORTED:
        left = min(max(left, rules.least), size - rules.least)
    if left < rules.least or size - left < rules.least:
        return -1
    after = 0.0
    for begin, end in ((0, left), (left, size)):
        _begin(cells, room)
        for place in range(begin, end):
            _take(room.rows[place], cells, room)
        after += (end - begin) * _loss(cells, room)
    if after - size * classes.costs[source] > most:
        return -1
    begin, end = (0, left) if left <= size - left else (left, size)
    for place in range(begin, end):
        _noted(room.rows[place], fresh, classes, log, rules.locking)
    measure(fresh, cells, classes, room)
    measure(source, cells, classes, room)
    return int(fresh)


@jit
def _member(number: Whole, classes: Classes, room: Room) -> int:
    """Any row of a class."""
    row = classes.head[number]
    for _ in range(_below(room.random, classes.sizes[number])):
        row = classes.after[row]
    return int(row)


@jit
def _may_part(number: Whole, classes: Classes, rules: Rules) -> bool:
    """Whether a class is large enough to be parted, and there may be one more."""
    used = len(classes.sizes) - classes.counts[0] - (rules.pool >= 0)
    large = classes.sizes[number] >= 2 * rules.least and classes.costs[number] > 0.0
    return bool(large and used < rules.most and classes.counts[0] > 0)


@jit
def _step(
    row: Whole,
    other: Whole,
    kind: int,
    most: float,
    cells: Cells,
    classes: Classes,
    rules: Rules,
    room: Room,
    log: Log,
) -> int:
    """Try a step of a kind between two rows; the class that it touched beside that of the first row, or -1."""
    here, there = classes.of_row[row], classes.of_row[other]
    sizes, costs = classes.sizes, classes.costs
    if kind == SPLIT:
        if here == rules.pool or not _may_part(here, classes, rules):
            return -1
        other = other if there == here else _member(here, classes, room)
        return -1 if other == row else _split(row, other, most, cells, classes, rules, room, log)
    if here == rules.pool and rules.frozen:
        return -1
    if here == there or there == rules.pool or (costs[here] <= 0.0 and costs[there] <= 0.0):
        return -1
    most += sizes[here] * costs[here] + sizes[there] * costs[there]
    if here == rules.pool or (kind == MOVE and sizes[here] > rules.least):
        after = (sizes[there] + 1) * _with(row, there, cells, classes, room)
        if after > most:
            return -1
        left = costs[here] if here == rules.pool else _without(row, here, cells, classes, room)
        if after + (sizes[here] - 1) * left > most:
            return -1
        _noted(row, there, classes, log, rules.locking)
    elif kind == MERGE:
        if (sizes[here] + sizes[there]) * united(here, there, cells, classes, room) > most:
            return -1
        member = classes.head[here]
        while member >= 0:
            following = classes.after[member]
            _noted(member, there, classes, log, rules.locking)
            member = following
    else:
        # The row goes to one that is near to it, and any row of that class comes back.
        other = _member(there, classes, room)
        after = sizes[there] * _instead(row, other, there, cells, classes, room)
        if after > most:
            return -1
        if after + sizes[here] * _instead(other, row, here, cells, classes, room) > most:
            return -1
        _noted(row, there, classes, log, rules.locking)
        _noted(other, here, classes, log, rules.locking)
    measure(there, cells, classes, room)
    if here != rules.pool and sizes[here] > 0:
        measure(here, cells, classes, room)
    return int(there)


@jit
def anneal(
    steps: int, heat: float, cells: Cells, near: Near, classes: Classes, rules: Rules, room: Room, log: Log
) -> int:
    """Try so many steps at one temperature; or fewer, where the log is full.

    `heat`: the temperature: a step that loses so much more is taken by a chance of 1 in e. Returns how many were tried.
    """
    rows, width = len(classes.of_row), near.others.shape[1]
    for step in range(steps):
        if rules.locking and log.counts[1] == len(log.begins):
            return step
        row = _below(room.random, rows)
        drawn = _below(room.random, 64)
        chance = _chance(room.random)
        tuple_ = near.others[near.tuples[row], int(width * chance * chance)]
        if tuple_ < 0:
            continue
        begin = near.first[tuple_]
        other = begin + _below(room.random, near.first[tuple_ + 1] - begin)
        kind = MOVE if drawn < 32 else SWAP if drawn < 60 else SPLIT if drawn < 62 else MERGE
        here = classes.of_row[row]
        if rules.locking:
            if classes.locked[here] or (kind != SPLIT and classes.locked[classes.of_row[other]]):
                continue
            log.begins[log.counts[1]] = log.counts[0]
        touched = _step(row, other, kind, _allowance(heat, room.random), cells, classes, rules, room, log)
        if touched >= 0 and rules.locking:
            log.touched[log.counts[1], 0], log.touched[log.counts[1], 1] = here, touched
            log.counts[1] += 1
            classes.locked[here] = here != rules.pool
            classes.locked[touched] = True
    return steps


@jit
def undo(broken: Array, cells: Cells, classes: Classes, room: Room, log: Log, pool: int) -> None:
    """Take back the steps that broke a promise, and unlock all classes."""
    for step in range(log.counts[1] - 1, -1, -1):
        if not broken[step]:
            continue
        end = log.begins[step + 1] if step + 1 < log.counts[1] else log.counts[0]
        for place in range(end - 1, log.begins[step] - 1, -1):
            relocate(log.rows[place], log.origins[place], classes)
        for side in range(2):
            number = log.touched[step, side]
            if number != pool and classes.sizes[number] > 0:
                measure(number, cells, classes, room)
    classes.locked[:] = False
    log.counts[:] = 0
