"""The forms of a page, filled in as the page shows them: what a person would send is where mutation begins."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

# They are sent when they are set, or pressed; a set one is as good a start as one that is not.
_UNTOUCHED = {"checkbox", "radio", "submit", "button", "image", "reset"}


@dataclass
class Form:
    method: str
    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.forms: list[Form] = []
        self.select = self.textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = urljoin(self.path, given.get("action", ""))
            self.forms.append(Form(given.get("method", "get").upper(), action))
        elif self.forms:
            self._field(tag, given, self.forms[-1])

    def _field(self, tag: str, given: dict[str, str], form: Form) -> None:
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "input" and given.get("type") == "file":
            form.files.append(name)
        elif tag in ("input", "button") and name:
            form.fields.append((name, value or "on" if given.get("type") in _UNTOUCHED else value))
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select:
            form.fields.append((self.select, value))
        elif tag == "textarea":
            self.textarea = name

    def handle_data(self, data: str) -> None:
        if self.textarea and self.forms:
            self.forms[-1].fields.append((self.textarea, data.strip()))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self.select = ""
        elif tag == "textarea":
            self.textarea = ""


def forms_of(page: str, path: str) -> list[Form]:
    """Read the forms that lead to an address of ours."""
    reader = _Reader(path)
    reader.feed(page)
    return [form for form in reader.forms if not urlsplit(form.action).netloc]
