"""The order key changes on the record: agents follow, exports stay whole, and a key that is lost is never made anew without a word."""

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.host.host import LocalHost
from agents.trust import identity as agent_identity
from app.ledger import checkpoints, keyring, keys, notes, verify
from app.ledger import services as ledger
from app.ledger.audit import audit
from app.ledger.bundle import bundle
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import KeyRotation, Order
from app.runs.ordering import key_rotation, orders
from app.runs.tests.cast import Oss01, act, offers, person, walk_to
from workflows.engine import events as ev


@pytest.fixture(autouse=True)
def own_ledger(committed_db, tmp_path, settings):
    """A ledger that commits, and keys of the test's own."""
    settings.SLOTLIGHT_LEDGER_KEY = tmp_path / "keys" / "ledger.key"
    ledger.record("run.started", {"pool": "ost_0"}, "ann", run="7", node="oss01")
    ledger.checkpoint_now()


@pytest.fixture
def sealed(tmp_path) -> Order:
    """An order that has not been offered yet."""
    oss01, ann, bob = Oss01(tmp_path), person("ann", "operator"), person("bob", "approver")
    oss01.report()
    act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)
    return Order.objects.get(operation="zpool_replace")


def pinned() -> agent_identity.Identity:
    return agent_identity.Identity("https://p", "oss01", bytes(32), **ledger.public_keys())


def verified(run: str) -> tuple[int, list[str]]:
    report = verify.Report()
    verify.check(verify.unpack(bundle(run, "ann"), report), verify.Pins(notes.signer().fingerprint), report)
    return report.exit_code, report.tampered


def test_agents_follow_from_key_to_key():
    """One that was away for two changes walks both steps."""
    known = pinned()
    first = known.portal_key_id
    second, third = (key_rotation.rotate("ann", timezone.now()) for _ in range(2))
    assert len({first, second, third}) == 3
    assert keys.order_key().key_id == third
    for _ in range(2):
        known = agent_identity.rotated(LocalHost(), known, key_rotation.next_keys(known.portal_key_id))
    assert known.portal_key_id == third
    assert key_rotation.next_keys(third) is None
    assert key_rotation.next_keys("0" * 16) is None


def test_what_was_signed_before_a_change_is_exported_whole():
    key_rotation.rotate("ann", timezone.now())
    ledger.record("run.moved", {}, "ann", run="7")
    assert (verified("7"), audit().exit_code) == ((0, []), 0)
    [event] = LedgerEvent.objects.filter(type=keyring.ORDER)
    assert event.parsed["body"]["handed_over"] in event.parsed["evidence"]


def test_a_hand_over_the_old_key_did_not_sign_is_not_followed():
    known = pinned()
    key_rotation.rotate("ann", timezone.now())
    answer = key_rotation.next_keys(known.portal_key_id)
    forged = answer | {"signature": keys.order_key().sign_text(answer["keys"].encode())}
    with pytest.raises(agent_identity.BadKeys):
        agent_identity.rotated(LocalHost(), known, forged)


def test_a_portal_that_dies_while_changing_its_key_goes_on(monkeypatch):
    """Before the change is committed nothing has changed; after it, the next checkpoint finishes it."""
    first = keys.order_key().key_id
    monkeypatch.setattr(checkpoints.os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        key_rotation.rotate("ann", timezone.now())
    assert keys.order_key().key_id == first
    monkeypatch.undo()
    ledger.record("run.moved", {}, "ann", run="7")
    ledger.checkpoint_now()
    assert keys.order_key().key_id != first
    assert KeyRotation.objects.count() == 1
    assert verified("7") == (0, [])


def test_a_change_that_was_not_committed_leaves_the_key(monkeypatch):
    first = keys.order_key().key_id
    monkeypatch.setattr(key_rotation.KeyRotation.objects, "create", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        key_rotation.rotate("ann", timezone.now())
    checkpoints.finish_key_change()
    assert keys.order_key().key_id == first
    assert not LedgerEvent.objects.filter(type=keyring.ORDER).exists()


def test_an_order_sealed_before_the_change_says_under_which_key(sealed):
    key_rotation.rotate("ann", timezone.now())
    [offer] = offers()
    assert offer["key"] != keys.order_key().key_id


def test_a_lost_key_is_not_made_anew_by_itself(sealed, capsys):
    """Every node would refuse every order from then on, and nobody would know why."""
    keys.order_key_path().unlink()
    ann = services.User.objects.get(username="ann")
    with pytest.raises(ledger.LedgerDown, match=r"order\.key is gone.*backup.*begin-anew"):
        services.look(ann, "oss01", ("block",))
    with pytest.raises(ledger.LedgerDown, match="is gone"):
        key_rotation.rotate("ann", timezone.now())
    assert orders.next_for("oss01") == [], "nothing is signed, so nothing is offered"
    for what in ("show", "rotate"):
        with pytest.raises(CommandError, match="is gone"):
            call_command("order_key", what)
    assert not keys.order_key_path().exists()


def test_a_lost_key_is_replaced_on_the_record_when_a_person_says_so(capsys):
    known = pinned()
    key_rotation.rotate("ann", timezone.now())
    with pytest.raises(CommandError, match="is there"):
        call_command("order_key", "begin-anew", "--why", "x")
    lost = keys.order_key().key_id
    keys.order_key_path().unlink()
    with pytest.raises(CommandError, match="--why"):
        call_command("order_key", "begin-anew")
    call_command("order_key", "begin-anew", "--why", "The disk it was on is gone, and so is the backup.")
    assert "enrol every node again" in capsys.readouterr().out
    assert keys.order_key().key_id not in (lost, known.portal_key_id)
    assert LedgerEvent.objects.get(type=keyring.LOST).parsed["body"]["why"].startswith("The disk")
    assert key_rotation.next_keys(lost) is None, "nobody vouches for the new one"
    ledger.record("run.moved", {}, "ann", run="7")
    ledger.checkpoint_now()
    assert (verified("7"), audit().exit_code) == ((0, []), 0)
    key_rotation.rotate("ann", timezone.now())
    assert verified("7") == (0, [])
