"""Examples at the end of help pages: complete, and never broken by the terminal, so that they can be pasted."""

import shlex

WIDTH = 79
"""The longest line: help is wrapped at 80 columns where no terminal says otherwise."""

MADE = {
    "people.csv": "shoal generate table --rows 2000 --seed 7 -o people.csv",
    "baskets.dat": "shoal generate baskets --rows 1000 --items 50 --density 0.1 --seed 7 -o baskets.dat",
}
"""Files that examples use, and the command that makes each."""


def complete(example: str) -> str:
    r"""An example as a help page shows it: before its commands those that make the files they use.

    >>> print(complete("Example:\n  shoal inspect people.csv"))
    Example:
      shoal generate table --rows 2000 --seed 7 -o people.csv
      shoal inspect people.csv
    """
    head, _, text = example.partition("\n")
    commands = [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines()]
    words = {word for command in commands for word in shlex.split(command)}
    made = [command for file, command in MADE.items() if file in words and command not in commands]
    return "\n".join([head, *(broken(command) for command in (*made, *commands))])


def broken(command: str) -> str:
    r"""A command on lines that are short enough, broken before options; the shell joins them again.

    >>> print(broken("shoal verify " + "--quasi a " * 8))
      shoal verify --quasi a --quasi a --quasi a --quasi a --quasi a --quasi a \
          --quasi a --quasi a
    """
    parts: list[str] = []
    for word in command.split():
        if parts and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = ["  " + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) > WIDTH - 2:
            lines.append("      " + part)
        else:
            lines[-1] += f" {part}"
    return " \\\n".join(lines)
