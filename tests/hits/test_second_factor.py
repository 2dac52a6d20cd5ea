"""The second factor itself: keys, codes, what is stored of them, and what the audit log says."""

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


def is_taken(user: User, code: str) -> bool:
    try:
        check_code(user=user, code=code)
    except CodeRefused:
        return False
    return True


def deeds() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


# Turning it on and off -----------------------------------------------------------------------


def test_a_key_opens_nothing_until_a_code_of_it_was_seen(alice):
    authenticator = begin(user=alice)
    assert authenticator_of(alice) is None
    with pytest.raises(CodeRefused):
        turn_on(user=alice, code="000000" if code_of(authenticator) != "000000" else "000001")
    assert authenticator_of(alice) is None and deeds() == []


def test_turning_it_on_gives_ten_recovery_codes_and_a_line_in_the_log(alice):
    authenticator = begin(user=alice)
    on, codes = turn_on(user=alice, code=code_of(authenticator))
    assert on == authenticator_of(alice)
    assert len(set(codes)) == N_RECOVERY_CODES == n_recovery_codes(alice) == 10
    assert deeds() == ["two-step login turned on"]
    assert AuditEntry.objects.get().details == {"person": "alice"}


def test_beginning_again_draws_another_key(alice):
    first, second = begin(user=alice).bin_key, begin(user=alice).bin_key
    assert first != second and Authenticator.objects.count() == 1


def test_there_is_never_a_second_one(alice):
    give_second_factor(alice)
    with pytest.raises(PeopleRefused):
        begin(user=alice)
    Authenticator.objects.create(user=alice, confirmed=False)
    with pytest.raises(PeopleRefused):
        turn_on(user=alice, code="123456")


def test_turning_it_off_leaves_nothing_behind(alice):
    give_second_factor(alice)
    turn_off(user=alice)
    turn_off(user=alice)
    assert not Authenticator.objects.exists() and not StaticToken.objects.exists()
    assert deeds()[1:] == ["two-step login turned off"]


def test_a_superuser_resets_somebody_elses_but_not_their_own(alice):
    boss = User.objects.create_superuser("boss")
    give_second_factor(alice)
    give_second_factor(boss)
    reset(user=alice, actor=boss)
    assert authenticator_of(alice) is None
    entry = AuditEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.action, entry.actor) == ("two-step login reset", boss)
    assert entry.details == {"person": "alice"}
    with pytest.raises(PeopleRefused):
        reset(user=boss, actor=boss)


def test_the_last_superuser_is_let_in_again_by_a_command(alice, capsys):
    give_second_factor(alice)
    call_command("reset_two_step", "alice", reason="lost phone")
    call_command("reset_two_step", "alice")
    assert capsys.readouterr().out == "Two-step login is off.\nIt was not on.\n"
    entry = AuditEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.action, entry.actor, entry.reason) == ("two-step login reset", None, "lost phone")
    with pytest.raises(CommandError):
        call_command("reset_two_step", "nobody")


# Codes of the app ----------------------------------------------------------------------------


def test_a_code_is_taken_once(alice):
    authenticator, _ = give_second_factor(alice)
    code = code_of(authenticator)
    assert is_taken(alice, code)
    assert not is_taken(alice, code)


def test_the_code_that_turned_it_on_does_not_log_in_too(alice):
    code = code_of(begin(user=alice))
    turn_on(user=alice, code=code)
    assert not is_taken(alice, code)


@pytest.mark.parametrize(
    ("steps", "good"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_clock_may_be_one_step_off(alice, steps, good):
    authenticator, _ = give_second_factor(alice)
    with time_machine.travel(timezone.now(), tick=False):
        assert is_taken(alice, code_of(authenticator, timezone.now() + steps * STEP)) is good


def test_the_window_does_not_follow_a_clock_that_goes_wrong(alice):
    authenticator, _ = give_second_factor(alice)
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        assert is_taken(alice, code_of(authenticator, now + STEP))
    later = now + 10 * STEP
    with time_machine.travel(later, tick=False):
        assert not is_taken(alice, code_of(authenticator, later + 2 * STEP))


@pytest.mark.parametrize("way", ["{} ", " {}", "spaced"])
def test_a_code_may_be_typed_with_spaces(alice, way):
    authenticator, _ = give_second_factor(alice)
    code = code_of(authenticator)
    assert is_taken(alice, f"{code[:3]} {code[3:]}" if way == "spaced" else way.format(code))


def test_after_a_wrong_code_each_wait_is_twice_as_long_whoever_asks(alice):
    authenticator, _ = give_second_factor(alice)
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        for failures, seconds in ((1, 1), (2, 2), (3, 4)):
            wrong = code_of(authenticator, timezone.now() + 40 * STEP)
            assert not is_taken(alice, wrong)
            with pytest.raises(CodeRefused, match=f"wait {seconds} second"):
                check_code(user=alice, code=code_of(authenticator))
            assert Authenticator.objects.get().throttling_failure_count == failures
            clock.shift(seconds)
        assert is_taken(alice, code_of(authenticator))


@pytest.mark.django_db(transaction=True)
def test_one_code_sent_many_times_at_once_is_taken_once():
    alice = User.objects.create_user("alice")
    authenticator, _ = give_second_factor(alice)
    code = code_of(authenticator)

    def attempt(_: int) -> bool:
        try:
            return is_taken(alice, code)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(attempt, range(6))) == [False] * 5 + [True]


@pytest.mark.parametrize(
    "code", ["", "x", "12345", "1234567", "000000000000", "²²²²²²", "\ud7ff", "a" * 400]
)
def test_nonsense_is_refused(alice, code):
    give_second_factor(alice)
    assert not is_taken(alice, code)


def test_bobs_code_is_not_alices(alice):
    bob = User.objects.create_user("bob")
    give_second_factor(alice)
    his, codes = give_second_factor(bob)
    assert not is_taken(alice, code_of(his)) and not is_taken(alice, codes[0])


# Recovery codes ------------------------------------------------------------------------------


def test_a_recovery_code_works_once_and_leaves_a_line(alice):
    _, codes = give_second_factor(alice)
    assert is_taken(alice, codes[3].upper().replace("-", " "))
    assert not is_taken(alice, codes[3])
    assert n_recovery_codes(alice) == 9
    entry = AuditEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.action, entry.details) == ("recovery code used", {"person": "alice", "left": 9})


def test_new_codes_end_the_old_ones(alice):
    _, old = give_second_factor(alice)
    new = make_recovery_codes(user=alice)
    assert is_taken(alice, new[0])
    assert not is_taken(alice, old[1])
    assert deeds()[1] == "recovery codes made"


def test_without_a_second_factor_there_are_no_recovery_codes(alice):
    with pytest.raises(PeopleRefused):
        make_recovery_codes(user=alice)


def test_guesses_at_recovery_codes_are_slowed_too(alice):
    _, codes = give_second_factor(alice)
    with time_machine.travel(timezone.now(), tick=False):
        assert not is_taken(alice, "aaaa-aaaa-aaaa")
        assert not is_taken(alice, codes[0])


# What is stored ------------------------------------------------------------------------------


def test_neither_the_key_nor_a_recovery_code_is_stored_as_it_is(alice):
    authenticator, codes = give_second_factor(alice)
    stored = TOTPDevice.objects.get().key
    assert authenticator.bin_key.hex() not in stored
    tokens = set(StaticToken.objects.values_list("token", flat=True))
    assert len(tokens) == 10 and tokens.isdisjoint(code.replace("-", "") for code in codes)


def test_a_key_put_on_somebody_elses_row_is_of_no_use(alice):
    bob = User.objects.create_user("bob")
    his, _ = give_second_factor(bob)
    hers, _ = give_second_factor(alice)
    Authenticator.objects.filter(pk=hers.pk).update(key=his.key)
    with pytest.raises(CodeRefused, match="no longer read"):
        check_code(user=alice, code=code_of(his))


def test_a_new_secret_key_keeps_everyone_while_the_old_one_is_accepted(alice, settings):
    authenticator, codes = give_second_factor(alice)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"  # pragma: allowlist secret
    assert is_taken(alice, code_of(authenticator)) and is_taken(alice, codes[0])
    # Sealed anew when it was used: the old key can go.
    settings.SECRET_KEY_FALLBACKS = []
    now = timezone.now() + 2 * STEP
    with time_machine.travel(now, tick=False):
        authenticator.refresh_from_db()
        assert is_taken(alice, code_of(authenticator))


def test_with_the_secret_key_lost_the_refusal_says_what_to_do(alice, settings, caplog):
    authenticator, _ = give_second_factor(alice)
    code = code_of(authenticator)
    settings.SECRET_KEY = "another"  # pragma: allowlist secret
    with pytest.raises(CodeRefused) as refused:
        check_code(user=alice, code=code)
    assert str(refused.value) == UNREADABLE and "DA_SECRET_KEY" in caplog.text
