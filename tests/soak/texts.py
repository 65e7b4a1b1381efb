"""Random texts of cells and items: plain ones that repeat, and odd ones that readers and writers may stumble over."""

from datetime import date, timedelta
from random import Random

NAMES = ["flu", "hiv", "cold", "gout", "asthma", "none"]
ODD = [
    "é",
    "e\u0301",
    "ß",
    "SS",
    "名前",
    "😀",
    "\u200b",
    "a\u200bb",
    "a b",
    "a,b",
    "a;b",
    "a|b",
    "a\tb",
    'say "x"',
    '"',
    "'",
    "a\nb",
    "a\r\nb",
    "007",
    "7",
    "7.0",
    "1e3",
    "-0",
    "nan",
    "NaN",
    "null",
    "None",
    "NULL",
    "inf",
    "true",
    "False",
    "\ufeffa",
    "a\ufeff",
    "\ufeff",
    "=1+1",
    "@x",
    "#x",
    "%x",
    "\\",
    "a\\b",
    "a\\|b",
    "a|",
    "{",
    "}",
    "{a",
    "a}",
    "[1",
    "1]",
    "[",
    "]",
    "(",
    "a*",
    "**",
    "*a",
    "-1",
    "-2",
    "+",
    "=>",
    "a + b",
    "x => y",
    "-",
    "--",
    "0x1f",
    "1_000",
    "1,5",
    "½",
    "٣",
    "x" * 300,
    "\u202eabc",
    "a\x1fb",
    "\x7f",
    "<b>",
    "&amp;",
    "$1",
    "^b$",
    ".*",
    "(rows)x",
    "?x",
    "na",
    "N/A",
    "\xa0",
    "a\xa0",
    "İ",
    "ı",
    "K",
    "\U0010ffff",
    "…",
    "{}x",
]
PUBLISHED = ["*", "{a|b}", "[1,2]", "[1,2)", "(a, b)", "{}", "{a}", "[,]"]
"""Texts that look like published cells, which are refused in data."""

COLUMNS = ["age", "zip", "sex", "job", "born", "city", "x", "q1"]
ODD_COLUMNS = [
    "*",
    "^b$",
    "a;b",
    "a,b",
    "a=b",
    "é",
    " b",
    "A b",
    'a"b',
    "col|x",
    "^.*$",
    "folder",
    "items",
    "0",
    "[1,2]",
    "nan",
    "a\nb",
    "x" * 80,
]


def plain(random: Random, count: int) -> list[str]:
    """Distinct plain names."""
    return random.sample(NAMES, min(count, len(NAMES)))


def numbers(random: Random, count: int) -> list[str]:
    """Distinct numbers in the same notation."""
    kind = random.choice(["small", "small", "wide", "decimal", "signed", "large"])
    if kind == "small":
        return [str(number) for number in random.sample(range(20), min(count, 20))]
    if kind == "wide":
        return [str(number) for number in random.sample(range(1000), count)]
    if kind == "decimal":
        return [str(number / 4) for number in random.sample(range(80), min(count, 80))]
    if kind == "signed":
        return [str(number) for number in random.sample(range(-15, 16), min(count, 31))]
    return [str(10**12 + number) for number in random.sample(range(50), min(count, 50))]


def days(random: Random, count: int) -> list[str]:
    """Distinct days in ISO format."""
    spread = random.choice([30, 800, 20000])
    return [
        str(date(1950, 1, 1) + timedelta(days=number))
        for number in random.sample(range(spread), min(count, spread))
    ]


def odd(random: Random, count: int) -> list[str]:
    """Odd texts, occasionally one that looks like a published cell."""
    pool = ODD + random.sample(PUBLISHED, 1) if random.random() < 0.03 else ODD
    return random.sample(pool, min(count, len(pool)))


def codes(random: Random, count: int) -> list[str]:
    """Digits with leading zeros, all of one length."""
    return [f"{number:05d}" for number in random.sample(range(0, 99999, 37), count)]


def letters(random: Random, count: int) -> list[str]:
    """Short texts from a few letters, many with the same beginning."""
    return sorted({"".join(random.choice("ab") for _ in range(random.randint(1, 4))) for _ in range(count)})


POOLS = {"plain": plain, "numbers": numbers, "days": days, "odd": odd, "codes": codes, "letters": letters}
