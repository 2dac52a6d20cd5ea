"""Calls about people: who may log in, and what they may do. They take a superuser's token."""

from collections.abc import Iterator

from .connection import Connection
from .models import Invited, Person


class PeopleCalls(Connection):
    def people(self, *, search: str = "") -> Iterator[Person]:
        """Those who may log in, by name."""
        for row in self._pages("/people", search=search):
            yield Person.of(row)

    def person(self, person: int) -> Person:
        return Person.of(self._get(f"/people/{person}"))

    def invite_person(
        self, username: str, level: str, *, email: str = "", campaign: str | None = None
    ) -> Invited:
        """Make a person: a `researcher` or an `admin`, of one campaign or without it of all."""
        body = {"username": username, "email": email, "level": level, "campaign": campaign}
        answer = self._post("/people", body)
        return Invited(Person.of(answer["person"]), answer["password_url"])

    def give_part(self, person: int, level: str, *, campaign: str | None = None) -> Person:
        """Give a level, in place of the one they have there."""
        body = {"level": level, "campaign": campaign}
        return Person.of(self._post(f"/people/{person}/parts", body))

    def take_part_away(self, person: int, part: int) -> Person:
        return Person.of(self._send("DELETE", f"/people/{person}/parts/{part}"))

    def set_active(self, person: int, is_active: bool) -> Person:
        """Let a person log in, or no longer."""
        return Person.of(self._post(f"/people/{person}/active", {"is_active": is_active}))
