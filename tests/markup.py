"""HTML as a browser reads it."""

from html.parser import HTMLParser

VOID = {"br", "meta"}


class Markup(HTMLParser):
    """Reads HTML and records its elements and its texts, except styles; unbalanced tags are errors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.path: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.path

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _, _ in self.elements]

    def attributes(self, name: str) -> list[str]:
        return [value for _, given, _ in self.elements if (value := given.get(name)) is not None]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(tag, attributes)
        if tag not in VOID:
            self.path.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.path
        self._note(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.path.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.path:
            self.texts.append(data)

    def _note(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes)
        self.elements.append((tag, dict(attributes), tuple(self.path)))
