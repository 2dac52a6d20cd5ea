"""What a password may be: long, of anything, taken as it was typed, and no word that everybody here knows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db

OLD = "correct horse battery"  # pragma: allowlist secret
ODD = " Zwölf Boxkämpfer, 12 大; " + "x" * 60 + "Y "


def change_to(password: str) -> Client:
    User.objects.create_user("alice", password=OLD)
    client = Client()
    client.post(reverse("login"), {"username": "alice", "password": OLD})
    fields = {"old_password": OLD, "new_password1": password, "new_password2": password}
    client.post(reverse("password_change"), fields)
    return client


def opens(password: str) -> bool:
    answer = Client().post(reverse("login"), {"username": "alice", "password": password})
    return answer.status_code == 302


def test_a_long_one_of_any_characters_is_taken_exactly_as_typed():
    change_to(ODD)
    assert len(ODD) > 64 and opens(ODD)
    for other in (ODD.strip(), ODD.lower(), ODD[:-1], ODD[:72]):
        assert not opens(other)


@pytest.mark.parametrize("word", ["password1", "iloveyou1", "platform2026", "Acme-123456"])
def test_a_common_one_and_one_of_known_words_change_nothing(word: str, settings: Any):
    settings.PASSWORD_WORDS = [*settings.PASSWORD_WORDS, "acme"]
    change_to(word)
    assert opens(OLD) and not opens(word)


def test_a_known_word_among_others_is_fine():
    validate_password("platform of a hundred trains")
    with pytest.raises(ValidationError, match="others would try"):
        validate_password("TranslationPlatform1!")


def test_fields_hide_what_is_typed_and_let_managers_fill_them_in():
    page = Client().get(reverse("login")).content.decode()
    assert 'type="password"' in page and 'autocomplete="current-password"' in page
    assert 'autocomplete="off"' not in page and "onpaste" not in page
