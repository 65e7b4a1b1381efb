"""Mondrian as in LeFevre, DeWitt and Ramakrishnan, ICDE 2006, section 4: one segment at a time, recursively."""

from bisect import bisect_right

MASK = (1 << 64) - 1


class Mondrian:
    def __init__(
        self,
        codes,
        positions,
        depths,
        *,
        least,
        weights=None,
        relaxed=False,
        choose="widest",
        seed=0,
        allowed=None,
    ):
        self.codes, self.positions, self.depths = codes, positions, depths
        self.least, self.relaxed, self.choose, self.seed = max(least, 1), relaxed, choose, seed
        self.weights = weights or [1.0] * len(positions)
        self.allowed = allowed or (lambda left, right: True)

    def classes(self):
        """The classes in the order of the tree's leaves; ``allowed(left, right)`` may refuse a cut."""
        return self.anonymize(list(range(len(self.codes))), self.seed & MASK)

    def anonymize(self, rows, node):
        for left, right in self.cuts_by_preference(rows, node):
            if self.allowed(left, right):
                return self.anonymize(left, splitmix(node + 1)) + self.anonymize(right, splitmix(node + 2))
        return [rows]

    def cuts_by_preference(self, rows, node):
        if not rows:
            return []
        dimensions = [j for j in range(len(self.positions)) if self.width(rows, j) > 0]
        found = [(j, cut) for j in dimensions if (cut := self.cut(rows, j))]
        preference = {
            "widest": lambda entry: -self.width(rows, entry[0]),
            "random": lambda entry: -(splitmix(node + 3 + entry[0]) >> 11),
            "loss": lambda entry: self.loss(entry[1][0]) + self.loss(entry[1][1]),
        }[self.choose]
        return [cut for _, cut in sorted(found, key=preference)]

    def width(self, rows, j):
        values = [self.codes[row][j] for row in rows]
        low, high = min(values), max(values)
        places = self.positions[j]
        if -1 in self.depths[j][low:high]:
            return self.weights[j] * 1.0
        span = places[-1] - places[0]
        return self.weights[j] * (places[high] - places[low]) / span if span else 0.0

    def loss(self, rows):
        total = 0.0
        for j in range(len(self.positions)):
            total += self.width(rows, j)
        return len(rows) * total

    def cut(self, rows, j):
        """The two halves, or None."""
        by_value = sorted(rows, key=lambda row: (self.codes[row][j], row))
        values = [self.codes[row][j] for row in by_value]
        low, high = values[0], values[-1]
        depths = self.depths[j][low:high]
        least_depth = min(depths)
        preferred = [low + i for i, depth in enumerate(depths) if depth == least_depth]
        left = None
        if not self.relaxed or len(set(depths)) > 1 or least_depth == -1:
            left = self.nearest(values, preferred)
        if left is None and not self.relaxed:
            left = self.nearest(values, range(low, high))
        if left is None and self.relaxed:
            left = (len(rows) + 1) // 2
            left = left if min(left, len(rows) - left) >= self.least else None
        return left and (sorted(by_value[:left]), sorted(by_value[left:]))

    def nearest(self, values, boundaries):
        """How many rows are left of the allowable boundary that is nearest to the median, or None."""
        count = len(values)
        median = bisect_right(values, values[(count - 1) // 2])
        sizes = [bisect_right(values, boundary) for boundary in boundaries]
        allowable = [left for left in sizes if min(left, count - left) >= self.least]
        return min(allowable, key=lambda left: (abs(left - median), -left), default=None)


def splitmix(value):
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)
