"""Text that is UTF-8, what to say of any other, and where its lines end."""

from pathlib import Path

from shoal.errors import BadData

FOREIGN = "\ufffd"
"""What stands where bytes were no UTF-8 text, for readers that go on."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What may stand at the very beginning of a file and is no text; anywhere else it is one like any other (U+FEFF)."""

CONVERT = "convert the file, for example with: iconv -f LATIN1 -t UTF-8 OLD > NEW, or say --encoding latin-1."
"""What to do about a file in another encoding."""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"


def check_utf8(data: bytes, name: str | Path, first_line: int = 1) -> None:
    """Refuse bytes that are no UTF-8 text; the first of them stand in a line of that number."""
    place = data.find(b"\0")
    if place >= 0:
        raise BadData(
            "the file holds a NUL byte, so it is binary or cut off, not text.",
            name,
            _line_at(data, place) + first_line - 1,
        )
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data[:4096].translate(None, _CONTROLS) != data[:4096]:
            raise BadData("the file is binary, not text.", name) from None
        cut = error.end == len(data) and error.reason == "unexpected end of data"
        raise BadData(
            "the file ends inside a character: it is cut off; fetch it again."
            if cut
            else f"byte 0x{data[error.start]:02X} is not UTF-8; {CONVERT}",
            name,
            _line_at(data, error.start) + first_line - 1,
        ) from None


def kept_mark(text: bytes) -> bytes:
    """A text for a reader that takes a byte order mark away: one that belongs to the text is kept."""
    return BYTE_ORDER_MARK + text if text.startswith(BYTE_ORDER_MARK) else text


def _line_at(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


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
