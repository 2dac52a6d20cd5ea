"""Any panel that sends people with an id in the URL and takes them back at another URL."""

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from string import Formatter
from typing import Any
from urllib.parse import quote

from django import forms
from django.conf import settings

from ...exceptions import ArrivalRefused
from ...models import Assignment, Submission, Worker
from ...people.guards import exit_origins, is_known_exit
from .base import INVALID, Arrival, Ending, Exit, Provider

MAX_ID_LENGTH = 100
# Until the year 2286.
MAX_TIME_DIGITS = 10
PLACEHOLDERS = {"id", "session", "code"}
# Letters, digits and the usual separators.
ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")


def validate_exit(template: str) -> None:
    """Refuse a URL whose host is not allowed, or with an unknown placeholder."""
    try:
        fields = [parts[1:] for parts in Formatter().parse(template) if parts[1] is not None]
    except ValueError as error:
        raise forms.ValidationError("A brace is not closed.") from error
    # Only the bare names: format strings can access attributes and use up memory.
    if any(name not in PLACEHOLDERS or spec or turn for name, spec, turn in fields):
        raise forms.ValidationError("The only placeholders are {id}, {session} and {code}.")
    filled = template.format(**dict.fromkeys(PLACEHOLDERS, "x"))
    if not is_known_exit(filled):
        origins = ", ".join(sorted(exit_origins()))
        raise forms.ValidationError(
            f"Workers may be sent only to: {origins}. Add hosts in DA_EXIT_HOSTS."
        )


class PanelForm(forms.Form):
    panel = forms.SlugField(
        max_length=40,
        label="Name of the panel",
        help_text="Keeps the ids of different panels apart.",
    )
    id_parameter = forms.SlugField(
        max_length=40, initial="uid", label="Parameter of the person's id"
    )
    session_parameter = forms.SlugField(
        max_length=40,
        required=False,
        label="Parameter of the visit's id",
        help_text="Leave empty if the panel has none; then each person can come only once.",
    )
    signature_parameter = forms.SlugField(
        max_length=40,
        required=False,
        label="Parameter of the signature",
        help_text="HMAC-SHA256 in hexadecimal over the address up to this parameter, which comes last.",
    )
    time_parameter = forms.SlugField(
        max_length=40,
        required=False,
        label="Parameter of the time",
        help_text="Seconds since 1970 when the panel made the link, which then works once and for ten "
        "minutes. Leave empty if the panel has none.",
    )
    secret = forms.CharField(
        max_length=40,
        required=False,
        label="Name of the secret",
        help_text="One of those in DA_PANEL_SECRETS. The secret itself is not stored here.",
    )
    completed_url = forms.CharField(
        max_length=500, required=False, validators=[validate_exit], label="Address when completed"
    )
    no_consent_url = forms.CharField(
        max_length=500, required=False, validators=[validate_exit], label="Address when declined"
    )
    screened_out_url = forms.CharField(
        max_length=500,
        required=False,
        validators=[validate_exit],
        label="Address when screened out",
    )
    is_automatic = forms.BooleanField(
        required=False, label="Send people back by themselves when they have completed"
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if bool(data.get("signature_parameter")) != bool(data.get("secret")):
            self.add_error("secret", "A signature needs a parameter and a secret.")
        elif data.get("secret") and data["secret"] not in settings.PANEL_SECRETS:
            self.add_error("secret", "DA_PANEL_SECRETS has no secret of this name.")
        if data.get("time_parameter") and not data.get("signature_parameter"):
            self.add_error("time_parameter", "A time is useful only in a signed link.")
        names = [data.get(f"{what}_parameter") for what in ("id", "session", "signature", "time")]
        parameters = [name for name in names if name]
        if len(parameters) != len(set(parameters)):
            self.add_error("id_parameter", "Each parameter needs a different name.")
        return data


class PanelProvider(Provider):
    name = "panel"
    label = "Another panel"
    form_class = PanelForm
    has_submissions = True

    @property
    def is_signed_only(self) -> bool:
        return bool(self.settings.get("signature_parameter"))

    def recognise(self, parameters: Mapping[str, str], *, url: str) -> Arrival | None:
        person = parameters.get(self.settings.get("id_parameter", ""), "")
        if not person:
            return None
        session_parameter = self.settings.get("session_parameter")
        session = parameters.get(session_parameter, "") if session_parameter else person
        for value in (person, session):
            if not 0 < len(value) <= MAX_ID_LENGTH or not ID_CHARACTERS.issuperset(value):
                raise ArrivalRefused(INVALID)
        signature = self._checked_signature(url) if self.is_signed_only else ""
        return Arrival(
            external_id=f"{self.settings['panel']}:{person}",
            reference=session,
            is_verified=bool(signature),
            proof=signature,
            signed_at=self._signed_at(parameters),
        )

    def _signed_at(self, parameters: Mapping[str, str]) -> datetime | None:
        name = self.settings.get("time_parameter")
        if not name:
            return None
        seconds = parameters.get(name, "")
        if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= MAX_TIME_DIGITS):
            raise ArrivalRefused(INVALID)
        return datetime.fromtimestamp(int(seconds), tz=UTC)

    def _checked_signature(self, url: str) -> str:
        name = self.settings["signature_parameter"]
        # Without the secret no signature can be checked, so nobody is admitted.
        secret = settings.PANEL_SECRETS.get(self.settings.get("secret", ""), "")
        signed, mark, signature = url.partition(f"&{name}=")
        is_last = bool(mark) and "&" not in signature
        expected = hmac.new(secret.encode(), signed.encode(), sha256).hexdigest()
        if not (
            secret
            and is_last
            and hmac.compare_digest(expected.encode(), signature.lower().encode())
        ):
            raise ArrivalRefused(INVALID)
        return expected

    def exit(
        self,
        ending: Ending,
        *,
        worker: Worker | None = None,
        assignment: Assignment | None = None,
        submission: Submission | None = None,
    ) -> Exit:
        code = assignment.completion_code if assignment else ""
        person = worker.external_id.partition(":")[2] if worker else ""
        values = {"id": person, "session": submission.reference if submission else "", "code": code}
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        url = self.settings.get(f"{ending}_url", "").format(**quoted)
        is_automatic = bool(self.settings.get("is_automatic")) and ending == Ending.COMPLETED
        return Exit(url=url, code=code, is_automatic=is_automatic)
