"""Refuse passwords that consist mainly of a well-known word."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

# How many characters a password needs besides those words.
MIN_REST = 8
MESSAGE = "This password is little more than a word that others would try first."


class KnownWordsValidator:
    def validate(self, password: str, user: User | None = None) -> None:
        folded = remainder = password.casefold()
        for word in settings.PASSWORD_WORDS:
            remainder = remainder.replace(word.casefold(), "")
        if remainder != folded and len(remainder) < MIN_REST:
            raise ValidationError(MESSAGE, code="known_word")

    def get_help_text(self) -> str:
        return "Your password can’t be little more than a word related to this platform or its organisation."
