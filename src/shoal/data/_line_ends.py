"""Where lines of text end: a line end inside quotes ends none."""


def last_line_end(text: bytes, *, quoted: bool) -> int:
    """Where the last whole line of a text ends; 0 if there is none.

    `quoted`: whether quotes hold line ends together. Each line is looked at once, however many of them a quote leaves
    open.
    """
    end = text.rfind(b"\n") + 1
    inside = quoted and text.count(b'"', 0, end) % 2 == 1
    while end and inside:
        before = text.rfind(b"\n", 0, end - 1) + 1
        inside ^= text.count(b'"', before, end) % 2 == 1
        end = before
    return end
