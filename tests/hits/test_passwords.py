"""Passwords may be long, contain any characters and are used exactly as typed; obvious words are refused."""

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


def test_a_long_password_of_any_characters_is_used_exactly_as_typed():
    change_to(ODD)
    assert len(ODD) > 64 and opens(ODD)
    for changed in (ODD.strip(), ODD.lower(), ODD[:-1], ODD[:72]):
        assert not opens(changed)


@pytest.mark.parametrize("word", ["password1", "iloveyou1", "platform2026", "Acme-123456"])
def test_common_passwords_and_obvious_words_are_refused(word: str, settings: Any):
    settings.PASSWORD_WORDS = [*settings.PASSWORD_WORDS, "acme"]
    change_to(word)
    assert opens(OLD) and not opens(word)


def test_an_obvious_word_among_others_is_accepted():
    validate_password("platform of a hundred trains")
    with pytest.raises(ValidationError, match="others would try"):
        validate_password("TranslationPlatform1!")


def test_password_fields_are_hidden_and_work_with_password_managers():
    page = Client().get(reverse("login")).content.decode()
    assert 'type="password"' in page and 'autocomplete="current-password"' in page
    assert 'autocomplete="off"' not in page and "onpaste" not in page
