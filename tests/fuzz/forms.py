"""Read the forms of a page with their initial values, as a start for mutations."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

# Sent only when they are checked or pressed; here they always are.
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
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = urljoin(self.path, attributes.get("action", ""))
            self.forms.append(Form(attributes.get("method", "get").upper(), action))
        elif self.forms:
            self._field(tag, attributes, self.forms[-1])

    def _field(self, tag: str, attributes: dict[str, str], form: Form) -> None:
        name, value = attributes.get("name", ""), attributes.get("value", "")
        if tag == "input" and attributes.get("type") == "file":
            form.files.append(name)
        elif tag in ("input", "button") and name:
            form.fields.append(
                (name, value or "on" if attributes.get("type") in _UNTOUCHED else value)
            )
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
    """Return the forms that lead to our own site."""
    reader = _Reader(path)
    reader.feed(page)
    return [form for form in reader.forms if not urlsplit(form.action).netloc]
