"""The second factor: keys, codes, how they are stored, and what the audit log records."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from hits.exceptions import CodeRefused, PeopleRefused
from hits.models import AuditEntry, Authenticator
from hits.people.second_factor import (
    N_RECOVERY_CODES,
    UNREADABLE,
    authenticator_of,
    begin,
    check_code,
    make_recovery_codes,
    n_recovery_codes,
    reset,
    turn_off,
    turn_on,
)
from tests.two_step import code_of, give_second_factor

pytestmark = pytest.mark.django_db

STEP = timedelta(seconds=30)


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def authenticator(alice: User) -> Authenticator:
    return give_second_factor(alice)[0]


def is_accepted(user: User, code: str) -> bool:
    try:
        check_code(user=user, code=code)
    except CodeRefused:
        return False
    return True


def logged_actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


# Turning it on and off -----------------------------------------------------------------------


def test_a_key_is_active_only_after_a_right_code(alice):
    authenticator = begin(user=alice)
    assert authenticator_of(alice) is None
    with pytest.raises(CodeRefused):
        turn_on(user=alice, code="000000" if code_of(authenticator) != "000000" else "000001")
    assert authenticator_of(alice) is None and logged_actions() == []


def test_turning_it_on_gives_ten_recovery_codes_and_is_logged(alice):
    authenticator = begin(user=alice)
    active, codes = turn_on(user=alice, code=code_of(authenticator))
    assert active == authenticator_of(alice)
    assert len(set(codes)) == N_RECOVERY_CODES == n_recovery_codes(alice) == 10
    assert logged_actions() == ["two-step login turned on"]
    assert AuditEntry.objects.get().details == {"person": "alice"}


def test_starting_again_makes_another_key(alice):
    first, second = begin(user=alice).bin_key, begin(user=alice).bin_key
    assert first != second and Authenticator.objects.count() == 1


def test_a_person_has_only_one_second_factor(alice):
    give_second_factor(alice)
    with pytest.raises(PeopleRefused):
        begin(user=alice)
    Authenticator.objects.create(user=alice, confirmed=False)
    with pytest.raises(PeopleRefused):
        turn_on(user=alice, code="123456")


def test_turning_it_off_deletes_key_and_codes(alice):
    give_second_factor(alice)
    turn_off(user=alice)
    turn_off(user=alice)
    assert not Authenticator.objects.exists() and not StaticToken.objects.exists()
    assert logged_actions()[1:] == ["two-step login turned off"]


def test_superusers_can_reset_others_but_not_themselves(alice):
    boss = User.objects.create_superuser("boss")
    give_second_factor(alice)
    give_second_factor(boss)
    reset(user=alice, actor=boss)
    assert authenticator_of(alice) is None
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor) == ("two-step login reset", boss)
    assert entry.details == {"person": "alice"}
    with pytest.raises(PeopleRefused):
        reset(user=boss, actor=boss)


def test_a_command_resets_it_for_the_last_superuser(alice, capsys):
    give_second_factor(alice)
    call_command("reset_two_step", "alice", reason="lost phone")
    call_command("reset_two_step", "alice")
    assert capsys.readouterr().out == "Two-step login is off.\nIt was not on.\n"
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor, entry.reason) == ("two-step login reset", None, "lost phone")
    with pytest.raises(CommandError):
        call_command("reset_two_step", "nobody")


# Codes of the app ----------------------------------------------------------------------------


def test_a_code_is_accepted_once(alice, authenticator):
    code = code_of(authenticator)
    assert is_accepted(alice, code)
    assert not is_accepted(alice, code)


def test_the_code_that_turned_it_on_is_not_accepted_again(alice):
    code = code_of(begin(user=alice))
    turn_on(user=alice, code=code)
    assert not is_accepted(alice, code)


@pytest.mark.parametrize(
    ("steps", "expected"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_clock_may_be_one_step_off(alice, steps, expected, authenticator):
    with time_machine.travel(timezone.now(), tick=False):
        assert is_accepted(alice, code_of(authenticator, timezone.now() + steps * STEP)) is expected


def test_the_window_does_not_follow_a_wrong_clock(alice, authenticator):
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        assert is_accepted(alice, code_of(authenticator, now + STEP))
    later = now + 10 * STEP
    with time_machine.travel(later, tick=False):
        assert not is_accepted(alice, code_of(authenticator, later + 2 * STEP))


@pytest.mark.parametrize("pattern", ["{}{} ", " {}{}", "{} {}"])
def test_a_code_may_be_typed_with_spaces(alice, pattern, authenticator):
    code = code_of(authenticator)
    assert is_accepted(alice, pattern.format(code[:3], code[3:]))


def test_the_wait_doubles_with_each_wrong_code(alice, authenticator):
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        for failures, seconds in ((1, 1), (2, 2), (3, 4)):
            wrong = code_of(authenticator, timezone.now() + 40 * STEP)
            assert not is_accepted(alice, wrong)
            with pytest.raises(CodeRefused, match=f"wait {seconds} second"):
                check_code(user=alice, code=code_of(authenticator))
            assert Authenticator.objects.get().throttling_failure_count == failures
            clock.shift(seconds)
        assert is_accepted(alice, code_of(authenticator))


@pytest.mark.django_db(transaction=True)
def test_simultaneous_copies_of_a_code_are_accepted_once():
    alice = User.objects.create_user("alice")
    authenticator, _ = give_second_factor(alice)
    code = code_of(authenticator)

    def attempt(_: int) -> bool:
        try:
            return is_accepted(alice, code)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(attempt, range(6))) == [False] * 5 + [True]


@pytest.mark.parametrize(
    "code", ["", "x", "12345", "1234567", "000000000000", "²²²²²²", "\ud7ff", "a" * 400]
)
def test_malformed_codes_are_refused(alice, code):
    give_second_factor(alice)
    assert not is_accepted(alice, code)


def test_another_persons_codes_are_refused(alice):
    bob = User.objects.create_user("bob")
    give_second_factor(alice)
    authenticator, codes = give_second_factor(bob)
    assert not is_accepted(alice, code_of(authenticator)) and not is_accepted(alice, codes[0])


# Recovery codes ------------------------------------------------------------------------------


def test_a_recovery_code_works_once_and_is_logged(alice):
    _, codes = give_second_factor(alice)
    assert is_accepted(alice, codes[3].upper().replace("-", " "))
    assert not is_accepted(alice, codes[3])
    assert n_recovery_codes(alice) == 9
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.details) == ("recovery code used", {"person": "alice", "left": 9})


def test_new_recovery_codes_replace_the_old_ones(alice):
    _, old = give_second_factor(alice)
    new = make_recovery_codes(user=alice)
    assert is_accepted(alice, new[0])
    assert not is_accepted(alice, old[1])
    assert logged_actions()[1] == "recovery codes made"


def test_without_a_second_factor_there_are_no_recovery_codes(alice):
    with pytest.raises(PeopleRefused):
        make_recovery_codes(user=alice)


def test_guesses_at_recovery_codes_are_slowed_down(alice):
    _, codes = give_second_factor(alice)
    with time_machine.travel(timezone.now(), tick=False):
        assert not is_accepted(alice, "aaaa-aaaa-aaaa")
        assert not is_accepted(alice, codes[0])


# What is stored ------------------------------------------------------------------------------


def test_keys_and_recovery_codes_are_not_stored_in_plain_text(alice):
    authenticator, codes = give_second_factor(alice)
    stored = TOTPDevice.objects.get().key
    assert authenticator.bin_key.hex() not in stored
    tokens = set(StaticToken.objects.values_list("token", flat=True))
    assert len(tokens) == 10 and tokens.isdisjoint(code.replace("-", "") for code in codes)


def test_a_key_copied_to_another_persons_row_is_unreadable(alice):
    bob = User.objects.create_user("bob")
    copied, _ = give_second_factor(bob)
    authenticator, _ = give_second_factor(alice)
    Authenticator.objects.filter(pk=authenticator.pk).update(key=copied.key)
    with pytest.raises(CodeRefused, match="no longer read"):
        check_code(user=alice, code=code_of(copied))


def test_after_a_new_secret_key_codes_still_work_while_the_old_one_is_a_fallback(alice, settings):
    authenticator, codes = give_second_factor(alice)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"  # pragma: allowlist secret
    assert is_accepted(alice, code_of(authenticator)) and is_accepted(alice, codes[0])
    # Encrypted again when it was used, so the old secret key is no longer needed.
    settings.SECRET_KEY_FALLBACKS = []
    now = timezone.now() + 2 * STEP
    with time_machine.travel(now, tick=False):
        authenticator.refresh_from_db()
        assert is_accepted(alice, code_of(authenticator))


def test_without_the_secret_key_the_refusal_says_what_to_do(alice, settings, caplog, authenticator):
    code = code_of(authenticator)
    settings.SECRET_KEY = "another"  # pragma: allowlist secret
    with pytest.raises(CodeRefused) as refused:
        check_code(user=alice, code=code)
    assert str(refused.value) == UNREADABLE and "DA_SECRET_KEY" in caplog.text
