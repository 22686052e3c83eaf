"""Rows about people that this portal did not write give no right, and everybody who should hear of them does."""

import pytest
from allauth.mfa.models import Authenticator

from app.accounts import believing, blessing, rights, sealing, seals
from app.accounts.kinds import FACTOR, MEMBERSHIP
from app.accounts.models import Membership, Refusal, Seal, User
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    made = User.objects.create_user("ann", password="correct horse battery")
    made.memberships.create(role="operator")
    return made


def test_what_the_portal_writes_is_believed(ann):
    assert rights.may(ann, rights.OPERATE)
    assert list(seals.faults()) == []


def test_a_role_that_was_inserted_past_the_portal_gives_nothing_and_is_told(ann):
    Membership.objects.bulk_create([Membership(user=ann, role="approver")])
    assert not rights.may(ann, rights.APPROVE)
    assert rights.may(ann, rights.OPERATE)
    refusal = Refusal.objects.get()
    assert (refusal.person, "has no seal" in refusal.why) == ("ann", True)
    assert LedgerEvent.objects.get(type="identity.refused").parsed["body"]["of"] == "ann"


def test_a_changed_row_and_a_seal_of_another_give_nothing(ann):
    held = ann.memberships.get()
    Membership.objects.filter(pk=held.pk).update(role="approver")
    assert not rights.may(ann, rights.APPROVE)
    other = Membership(user=ann, role="operator", pk=held.pk + 1000)
    Membership.objects.filter(pk=held.pk).delete()
    Membership.objects.bulk_create([other])
    Seal.objects.create(pk=MEMBERSHIP.name(other.pk), mac=Seal.objects.get(pk__startswith="accounts_user:").mac)
    assert not rights.may(ann, rights.OPERATE)


def test_an_old_row_with_its_old_seal_is_refused(ann):
    held = ann.memberships.get()
    row, seal = Membership.objects.values().get(), Seal.objects.get(pk=MEMBERSHIP.name(held.pk))
    held.delete()
    Membership.objects.bulk_create([Membership(**row)])
    seal.save(force_insert=True)
    assert not rights.may(ann, rights.OPERATE)
    assert "old one that was put back" in Refusal.objects.get().why


def test_an_old_password_with_its_old_seal_is_refused(ann):
    before, seal = User.objects.values("password").get(), Seal.objects.get(pk=f"accounts_user:{ann.pk}")
    ann.set_password("another one altogether")
    ann.save()
    assert list(seals.faults()) == []
    User.objects.update(**before)
    seal.save()
    (_kind, _row, why), *_ = seals.faults()
    assert "old one that was put back" in why


def test_a_factor_that_was_deleted_past_the_portal_is_missed(ann, client):
    """With its seal, so that nothing is left of it but the count in its person's own row."""
    before, seal = User.objects.values("factors").get(), Seal.objects.get(pk=f"accounts_user:{ann.pk}")
    factor = Authenticator.objects.create(user=ann, type="totp", data={})
    assert believing.why_not(ann) == ""
    Seal.objects.filter(pk=FACTOR.name(factor.pk)).delete()
    Authenticator.objects.filter(pk=factor.pk)._raw_delete("default")
    assert "1 rows of second factors" in believing.why_not(ann)
    client.post("/sign-in/", {"login": "ann", "password": "correct horse battery"})
    assert "_auth_user_id" not in client.session
    assert Refusal.objects.get().person == "ann"
    User.objects.update(**before)
    seal.save()
    assert "old one that was put back" in believing.why_not(ann)


def test_a_person_whose_factor_is_gone_is_confirmed_on_the_portals_machine(ann):
    factor = Authenticator.objects.create(user=ann, type="totp", data={})
    Authenticator.objects.filter(pk=factor.pk)._raw_delete("default")
    seals.sweep()
    assert Refusal.objects.get().person == "ann"
    blessing.bless([f"accounts_user:{ann.pk}"], "the telephone was lost", "test")
    assert believing.why_not(ann) == ""
    assert not Refusal.objects.exists()


def test_the_event_of_an_old_state_recorded_again_brings_it_no_belief(ann):
    """Whoever writes to the database may add events, and the same bytes have the same leaf. Their place in the ledger is another."""
    held = ann.memberships.get()
    for role in ("approver", "operator"):
        held.role = role
        held.save()
        if role == "approver":
            row, seal = Membership.objects.values().get(), Seal.objects.get(pk=MEMBERSHIP.name(held.pk))
            event = LedgerEvent.objects.filter(identity=MEMBERSHIP.name(held.pk)).latest("pk")
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO ledger_event (body) VALUES (%s) RETURNING leaf", [bytes(event.body)])
        assert bytes(cursor.fetchone()[0]) == bytes(event.leaf)
    Membership.objects.filter(pk=held.pk).update(role=row["role"])
    seal.save()
    assert not rights.may(ann, rights.APPROVE)


def test_saving_a_forged_row_does_not_make_it_good(ann):
    User.objects.update(password="forged")
    ann.refresh_from_db()
    ann.is_active = False
    ann.save()
    ann.is_active = True
    ann.save()
    assert not rights.may(ann, rights.OPERATE)


def test_what_nobody_seals_needs_no_event(ann):
    before = LedgerEvent.objects.count()
    ann.first_name = "Ann"
    ann.save()
    ann.save(update_fields=["last_login"])
    assert LedgerEvent.objects.count() == before


def test_without_its_key_nobody_is_believed_and_none_is_made_anew(ann, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTLIGHT_IDENTITY_KEY", str(tmp_path / "identity.key"))
    assert not rights.may(ann, rights.OPERATE)
    assert "cannot be used" in Refusal.objects.first().why
    with pytest.raises(seals.KeyLost):
        User.objects.create_user("bob")
    assert not (tmp_path / "identity.key").exists()


def test_every_kind_is_watched():
    from django.db.models.signals import post_delete, post_save, pre_save

    for kind in seals.KINDS:
        for signal, handler in ((pre_save, sealing.before), (post_save, sealing.saved), (post_delete, sealing.deleted)):
            assert handler in signal._live_receivers(kind)[0], kind
