"""Taking over an installation from before there were seals, confirming single rows, and the key: changed, and lost."""

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from app.accounts import blessing, kinds, rights, scheme, sealing, seals
from app.accounts.models import Membership, Refusal, Seal, User
from app.fleet.models import Node
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def key(tmp_path, monkeypatch):
    """A data folder of this test's own."""
    path = tmp_path / "keys" / "identity.key"
    monkeypatch.setenv("SLOTLIGHT_IDENTITY_KEY", str(path))
    return path


@pytest.fixture
def ann(key):
    made = User.objects.create_user("ann", password="correct horse battery")
    made.memberships.create(role="operator")
    return made


def identity(*words):
    out = StringIO()
    call_command("identity", *words, stdout=out)
    return out.getvalue()


def from_before(ann, key):
    """The same installation, as a version without seals leaves it."""
    Seal.objects.all().delete()
    key.unlink()


def test_what_an_older_version_left_is_listed_and_taken_over_once(ann, key):
    from_before(ann, key)
    assert not rights.may(ann, rights.OPERATE)
    text = identity("first")
    assert "accounts_user:" in text
    assert "of ann (role operator)" in text
    assert "$" not in text, "no hash of a password"
    assert rights.may(ann, rights.OPERATE)
    assert key.stat().st_mode & 0o777 == 0o600
    body = LedgerEvent.objects.get(type="identity.blessed").parsed["body"]
    assert len(body["rows"]) == 2


@pytest.mark.parametrize("left", ["the key", "a seal", "the event"])
def test_it_is_taken_over_only_while_nothing_says_it_was_before(ann, key, left):
    identity("bless", "--all", "--why", "test") if left == "the event" else None
    if left != "a seal":
        Seal.objects.all().delete()
    if left != "the key":
        key.unlink()
    assert identity("first") == ""
    assert not rights.may(ann, rights.OPERATE)


def test_a_new_installation_needs_nothing(key):
    assert identity("first") == ""
    assert key.exists()
    root = User.objects.create_superuser("root", password="correct horse battery")
    assert rights.may(root, rights.PEOPLE)


def test_a_version_that_seals_more_takes_over_once_what_fitted_before(ann, key, monkeypatch):
    """As a data folder of a version that sealed neither nodes nor how many factors somebody has."""
    node = Node.objects.create(name="oss01")
    eve = User.objects.create_user("eve")
    then = replace(kinds.USER, fields=tuple(scheme.FIRST["accounts_user"]))
    with monkeypatch.context() as older:
        older.setitem(seals.KINDS, User, then)
        for row in seals.read(then):
            sealing.seal(then, row)
    User.objects.filter(pk=eve.pk).update(is_superuser=True)
    Seal.objects.filter(pk=f"fleet_node:{node.pk}").delete()
    key.with_name("identity.key.sealed").unlink()
    assert not rights.may(ann, rights.OPERATE)
    text = identity("first")
    assert f"accounts_user:{ann.pk}" in text
    assert f"fleet_node:{node.pk}" in text
    assert f"accounts_user:{eve.pk}" not in text, "what did not fit its seal before is not accepted now"
    assert rights.may(ann, rights.OPERATE)
    Seal.objects.filter(pk=f"fleet_node:{node.pk}").delete()
    assert identity("first") == ""
    assert seals.why_not(Node, name="oss01")


def test_single_rows_are_confirmed_with_a_reason_and_the_alarm_ends(ann):
    Membership.objects.bulk_create([Membership(user=ann, role="approver"), Membership(user=ann, role="admin")])
    seals.sweep()
    good, other = Membership.objects.filter(role__in=("approver", "admin")).order_by("-role")
    name = f"accounts_membership:{good.pk}"
    assert "2 rows are not accepted" in identity()
    with pytest.raises(CommandError, match="Say with --why"):
        identity("bless", name)
    with pytest.raises(CommandError, match="no such row"):
        identity("bless", name, "accounts_membership:99999", "--why", "test")
    assert not rights.may(ann, rights.APPROVE)
    identity("bless", name, "--why", "written by hand after the outage")
    assert rights.may(ann, rights.APPROVE)
    assert not rights.may(ann, rights.PEOPLE)
    assert [one.name for one in Refusal.objects.all()] == [f"accounts_membership:{other.pk}"]


def test_with_another_key_everything_is_sealed_again_and_nothing_forged_becomes_good(ann, key):
    Membership.objects.bulk_create([Membership(user=ann, role="approver")])
    before = key.read_text()
    assert "2 rows are sealed" in identity("rotate", "--why", "yearly")
    assert key.read_text() != before
    assert not seals.next_path().exists()
    assert rights.may(ann, rights.OPERATE)
    assert not rights.may(ann, rights.APPROVE)
    assert LedgerEvent.objects.filter(type="identity.key-rotated").count() == 1


def test_a_change_of_the_key_that_died_half_way_locks_nobody_out_and_goes_on(ann, key, monkeypatch):
    def dies(*_):
        raise OSError("killed")

    with monkeypatch.context() as killed:
        killed.setattr(blessing.os, "replace", dies)
        with pytest.raises(OSError):
            blessing.rotate("yearly", "test")
    assert rights.may(ann, rights.OPERATE)
    User.objects.create_user("bob").memberships.create(role="approver")
    identity("rotate", "--why", "once more")
    assert rights.may(ann, rights.OPERATE)
    assert list(seals.faults()) == []


def test_a_lost_key_lets_nobody_in_until_a_person_has_read_the_list(ann, key, client):
    key.unlink()
    assert not rights.may(ann, rights.OPERATE)
    answer = client.post("/sign-in/", {"login": "ann", "password": "correct horse battery"})
    assert "begin-anew" in answer.content.decode()
    assert "_auth_user_id" not in client.session
    assert identity("first") == ""
    with pytest.raises(CommandError, match="run it again with --all"):
        identity("begin-anew", "--why", "the disk died")
    assert not key.exists()
    identity("begin-anew", "--all", "--why", "the disk died")
    assert rights.may(ann, rights.OPERATE)
    assert LedgerEvent.objects.filter(type="identity.key-lost").count() == 1


def test_a_key_that_is_there_is_not_begun_anew(ann):
    with pytest.raises(CommandError, match="is there. Change it"):
        identity("begin-anew", "--all", "--why", "x")


def test_the_right_key_put_back_is_enough(ann, key):
    kept = key.read_text()
    key.unlink()
    assert not rights.may(ann, rights.OPERATE)
    key.write_text(kept)
    assert rights.may(ann, rights.OPERATE)
