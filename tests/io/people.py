"""A small file of people with every kind of column in it, and what a table says."""

from shoal.data.table import Table

PEOPLE = '''name, age, zip, born, ill, visits
Ann, 41, 02263, 1983-04-01, "flu, ""mild""", 3
José, 38, 10115, 1986-12-24, ?, 2.5
李, , 10115, , cold, 3
"Eve\nX", 41, 02263, 1983-04-01, NA, 1e2
'''
ROLES = {
    "identifying": ["name"],
    "quasi": ["age", "zip", "born"],
    "sensitive": ["ill"],
    "insensitive": ["visits"],
}


def cells(table: Table) -> list[tuple[object, ...]]:
    """What a table says, whatever it was read from."""
    return [
        (
            column.name,
            column.role,
            column.domain.kind,
            [column.domain.labels[code] for code in column.codes],
            None if column.domain.values is None else column.domain.values[column.codes].tolist().__repr__(),
            column.domain.missing,
        )
        for column in table.columns
    ]
