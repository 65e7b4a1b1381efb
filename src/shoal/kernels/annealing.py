"""Simulated annealing: rows that move between classes, and classes that part, join and mix, so that less is lost."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit
from shoal.kernels.drawing import below, chance

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

NODES, RANGES, SETS = 0, 1, 2
"""What the cells of a column are published as."""

MOVE, SWAP, SPLIT, MERGE, MIX = 0, 1, 2, 3, 4
"""Kinds of steps: the last one pools two classes and parts them anew."""

SORTED = 256
"""Rows up to which they are sorted to be parted."""

MIXED = 8
"""Two classes are mixed if they have at most so many times the fewest rows of one."""

TRIES = 4
"""How often a row looks for one of another class."""

TIES = 1e-9
"""A loss that is smaller than what tells two rows apart: it draws the order of those that are equally near."""

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
    `lower`, `higher`: the lowest and the highest place without one row that has it.
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
    lower: Array
    higher: Array
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
    lower: Array
    higher: Array
    held: Array
    stamps: Array
    token: Array
    random: Array
    rows: Array
    nearer: Array


@jit
def _begin(cells: Cells, room: Room) -> None:
    """Begin a class without rows."""
    room.token[0] += 1
    for column in range(len(cells.kinds)):
        room.low[column] = room.lower[column] = 1 << 30
        room.high[column] = room.higher[column] = -1
        room.held[column] = 0


@jit
def _take(row: Whole, cells: Cells, room: Room) -> None:
    """Take a row into the class that is being measured."""
    for column in range(len(cells.kinds)):
        code = cells.codes[row, column]
        room.lower[column] = min(room.lower[column], max(room.low[column], code))
        room.higher[column] = max(room.higher[column], min(room.high[column], code))
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
def _take_class(number: Whole, cells: Cells, classes: Classes, room: Room) -> None:
    """Take the rows of a class into the one that is being measured."""
    row = classes.head[number]
    while row >= 0:
        _take(row, cells, room)
        row = classes.after[row]


@jit
def _changed(coming: Whole, going: Whole, number: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of a class loses with one more, and without another one; -1 for neither."""
    codes = cells.codes
    if classes.sizes[number] == 1 and coming < 0:
        return 0.0
    for column in range(len(cells.kinds)):
        low, high = classes.low[number, column], classes.high[number, column]
        if going >= 0:
            low = classes.lower[number, column] if codes[going, column] == low else low
            high = classes.higher[number, column] if codes[going, column] == high else high
        if coming >= 0:
            low, high = min(low, codes[coming, column]), max(high, codes[coming, column])
        room.low[column], room.high[column] = low, high
    for column in cells.sets:
        new = codes[coming, column] if coming >= 0 else -1
        old = codes[going, column] if going >= 0 else -1
        room.held[column] = classes.held[number, column]
        if new == old:
            continue
        room.held[column] += new >= 0
        room.held[column] -= old >= 0
        member, alike = classes.head[number], 0
        while member >= 0 and (new >= 0 or (old >= 0 and alike < 2)):
            code = codes[member, column]
            if code == new:
                room.held[column] -= 1
                new = -1
            alike += code == old
            member = classes.after[member]
        room.held[column] += alike > 1
    return _loss(cells, room)


@jit
def united(one: Whole, other: Whole, cells: Cells, classes: Classes, room: Room) -> float:
    """What each row of two classes loses together."""
    for column in range(len(cells.kinds)):
        room.low[column] = min(classes.low[one, column], classes.low[other, column])
        room.high[column] = max(classes.high[one, column], classes.high[other, column])
    if len(cells.sets):
        _begin(cells, room)
        _take_class(one, cells, classes, room)
        _take_class(other, cells, classes, room)
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
    _take_class(number, cells, classes, room)
    classes.costs[number] = _loss(cells, room)
    for column in range(len(cells.kinds)):
        classes.low[number, column] = room.low[column]
        classes.high[number, column] = room.high[column]
        classes.lower[number, column] = room.lower[column]
        classes.higher[number, column] = room.higher[column]
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
    return -heat * math.log(1.0 - chance(random))


@jit
def _arrange(row: Whole, there: Whole, cells: Cells, classes: Classes, room: Room) -> int:
    """Put the rows of two classes that are nearer to one than to a drawn one before the rest; how many they are.

    Few rows are put in the order of how much nearer they are.
    """
    count, left = 0, 0
    for number in (classes.of_row[row], there):
        member = classes.head[number]
        while member >= 0:
            room.rows[count] = member
            count += 1
            member = classes.after[member]
    other = room.rows[below(room.random, count)]
    for turn in range(count):
        member, place = room.rows[turn], turn
        nearer = pair(member, row, FORBIDDEN, cells) - pair(member, other, FORBIDDEN, cells)
        nearer += TIES * (chance(room.random) - 0.5)
        if count <= SORTED:
            while place > 0 and room.nearer[place - 1] > nearer:
                room.nearer[place], room.rows[place] = room.nearer[place - 1], room.rows[place - 1]
                place -= 1
        elif nearer < 0.0:
            room.nearer[turn], room.rows[turn] = room.nearer[left], room.rows[left]
            place = left
        room.nearer[place], room.rows[place] = nearer, member
        left += nearer < 0.0
    return left


@jit
def _best_cut(first: Whole, last: Whole, size: Whole, cells: Cells, room: Room) -> tuple[int, float]:
    """Where to part the rows that were put in order, between two places, and what they lose then."""
    _begin(cells, room)
    for place in range(last):
        _take(room.rows[place], cells, room)
        if place + 1 >= first:
            room.nearer[place + 1] = (place + 1) * _loss(cells, room)
    best, where = np.inf, -1
    _begin(cells, room)
    for place in range(size - 1, first - 1, -1):
        _take(room.rows[place], cells, room)
        if place <= last:
            total = room.nearer[place] + (size - place) * _loss(cells, room)
            if total < best:
                best, where = total, place
    return where, best


@jit
def _part(
    row: Whole, there: Whole, most: float, cells: Cells, classes: Classes, rules: Rules, room: Room, log: Log
) -> int:
    """Part the rows of two classes anew, by how near they are to one of them; the second, or -1 if it loses too much.

    The second may have no rows yet: then the first is parted into two.
    """
    here = classes.of_row[row]
    size = classes.sizes[here] + classes.sizes[there]
    left = _arrange(row, there, cells, classes, room)
    first, last = (rules.least, size - rules.least) if size <= SORTED else (left, left)
    if min(first, size - last) < rules.least:
        return -1
    where, after = _best_cut(first, last, size, cells, room)
    if after > most:
        return -1
    for place in range(size):
        target = here if place < where else there
        if classes.of_row[room.rows[place]] != target:
            _noted(room.rows[place], target, classes, log, rules.locking)
    measure(here, cells, classes, room)
    measure(there, cells, classes, room)
    return int(there)


@jit
def _member(number: Whole, classes: Classes, room: Room) -> int:
    """Any row of a class."""
    row = classes.head[number]
    for _ in range(below(room.random, classes.sizes[number])):
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
        there = classes.free[classes.counts[0] - 1]
        if classes.locked[there]:
            return -1
        return _part(row, there, most + sizes[here] * costs[here], cells, classes, rules, room, log)
    if here == rules.pool and rules.frozen:
        return -1
    if here == there or there == rules.pool or (costs[here] <= 0.0 and costs[there] <= 0.0):
        return -1
    most += sizes[here] * costs[here] + sizes[there] * costs[there]
    if here == rules.pool or (kind == MOVE and sizes[here] > rules.least):
        after = (sizes[there] + 1) * _changed(row, -1, there, cells, classes, room)
        if after > most:
            return -1
        left = costs[here] if here == rules.pool else _changed(-1, row, here, cells, classes, room)
        if after + (sizes[here] - 1) * left > most:
            return -1
        _noted(row, there, classes, log, rules.locking)
    elif kind == MIX:
        few = sizes[here] + sizes[there] <= min(MIXED * rules.least, SORTED)
        return _part(row, there, most, cells, classes, rules, room, log) if few else -1
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
        after = sizes[there] * _changed(row, other, there, cells, classes, room)
        if after > most:
            return -1
        if after + sizes[here] * _changed(other, row, here, cells, classes, room) > most:
            return -1
        _noted(row, there, classes, log, rules.locking)
        _noted(other, here, classes, log, rules.locking)
    measure(there, cells, classes, room)
    if here != rules.pool and sizes[here] > 0:
        measure(here, cells, classes, room)
    return int(there)


@jit
def _near_row(row: Whole, near: Near, classes: Classes, random: Array) -> int:
    """A row near to one, of another class if a few draws find such a one; nearer ones are drawn more often."""
    other, width = row, near.others.shape[1]
    for _ in range(TRIES):
        share = chance(random)
        tuple_ = near.others[near.tuples[row], int(width * share * share)]
        if tuple_ >= 0:
            begin = near.first[tuple_]
            other = begin + below(random, near.first[tuple_ + 1] - begin)
            if classes.of_row[other] != classes.of_row[row]:
                break
    return int(other)


@jit
def anneal(
    steps: int, heat: float, cells: Cells, near: Near, classes: Classes, rules: Rules, room: Room, log: Log
) -> int:
    """Try so many steps at one temperature; or fewer, where the log is full.

    `heat`: the temperature: a step that loses so much more is taken by a chance of 1 in e. Returns how many were tried.
    """
    rows = len(classes.of_row)
    for step in range(steps):
        if rules.locking and log.counts[1] == len(log.begins):
            return step
        row = below(room.random, rows)
        if classes.costs[classes.of_row[row]] <= 0.0:  # little can be gained there
            row = below(room.random, rows)
        here, other = classes.of_row[row], _near_row(row, near, classes, room.random)
        drawn = below(room.random, 64)
        kind = (drawn >= 22) + (drawn >= 36) + (drawn >= 38) + (drawn >= 40)
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
