"""The incident, walked by programs: two people's tokens, the same services, and the ledger says which token it was."""

from datetime import timedelta

import pytest

from app.api.tests.cast import Asker, older, token
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order, Run
from app.runs.tests.cast import BLANK, PHRASE, incident, try_out, walk_to
from app.runs.tests.test_by_hand import give, observed
from app.runs.tests.test_rack import BAY, BLINK, NEW, blink
from twin import rack
from workflows.engine.by_hand import snippet_of

__all__ = ["observed"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def walk(oss01, ann, bob):
    """Asks as ann and as bob, and a run that waits for its approval."""
    ann_asks, bob_asks = Asker(token(ann)), Asker(token(bob))
    run = ann_asks.post("/runs", {"situation": incident().pk, "runbook": "wwid-mismatch-replace"})
    assert run.status_code == 201, run.content
    for _ in range(4):
        now = ann_asks.get(f"/runs/{run.json()['id']}")
        typed = {"choose": {"value": BLANK}, "confirm": {"text": PHRASE}}.get(now["acts"][0], {})
        answer = ann_asks.post(f"/runs/{now['id']}/acts/{now['acts'][0]}", {"version": now["version"], **typed})
        assert answer.status_code == 200, answer.content
        oss01.work()
    return ann_asks, bob_asks, ann_asks.get(f"/runs/{now['id']}")


def test_a_run_is_walked_to_its_order(walk, oss01):
    ann, bob, run = walk
    assert run["step"] == "approve"
    assert run["argv"][:2] == ["zpool", "replace"]
    assert [one["yours"] for one in ann.get("/approvals")] == [False]
    [waiting] = bob.get("/approvals")
    assert (waiting["yours"], waiting["argv"]) == (True, run["argv"])
    body = {"version": waiting["version"], "plan_digest": waiting["plan_digest"]}
    own = ann.post(f"/approvals/{run['id']}/approve", body)
    assert (own.status_code, own.json()["type"]) == (403, "urn:slotlight:not-allowed")
    run = bob.post(f"/approvals/{run['id']}/approve", body).json()
    assert [one["by"] for one in run["approvals"]] == ["bob"]
    run = ann.post(f"/runs/{run['id']}/acts/execute", {"version": run["version"]}).json()
    assert run["orders"][0]["status"] == "SEALED"
    oss01.work()
    assert oss01.commands()[-1][-1] == run["argv"][-1]


def test_an_approver_with_a_hand_in_the_run_is_refused(walk):
    _, bob, run = walk
    bob.post(f"/runs/{run['id']}/acts/back", {"version": run["version"], "step": "plan"})
    now = bob.get(f"/runs/{run['id']}")
    answer = bob.post(f"/approvals/{run['id']}/approve", {"version": now["version"], "plan_digest": now["plan_digest"]})
    assert answer.status_code == 409


def test_each_act_says_which_token_it_was(walk):
    _, bob, run = walk
    bob.post(f"/approvals/{run['id']}/reject", {"version": run["version"], "plan_digest": run["plan_digest"], "reason": "no"})
    used = [event.parsed for event in LedgerEvent.objects.filter(type="token.used", run=str(run["id"])).order_by("run_seq")]
    assert [(one["actor"], one["body"]["act"]) for one in used][-2:] == [("ann", "run.confirm"), ("bob", "run.deny")]
    assert all(one["body"]["outcome"] == "done" for one in used)


def test_an_old_version_is_409_and_nothing_is_done(walk):
    _, bob, run = walk
    answer = bob.post(f"/approvals/{run['id']}/approve", {"version": run["version"] - 1, "plan_digest": run["plan_digest"]})
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:slotlight:run-moved")
    assert "Read the run again" in answer.json()["do"]
    last = LedgerEvent.objects.filter(type="token.used").order_by("-pk").first()
    assert last.parsed["body"]["outcome"] == "refused"


def test_a_token_older_than_its_proof_does_not_approve_or_execute(walk, bob, ann):
    _, _, run = walk
    late = Asker(older(token(bob), timedelta(minutes=16)))
    answer = late.post(f"/approvals/{run['id']}/approve", {"version": run["version"], "plan_digest": run["plan_digest"]})
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:slotlight:password-is-old")
    assert Run.objects.get(pk=run["id"]).step == "approve"
    assert not Order.objects.filter(run=run["id"]).exclude(effect="pure").exists()
    reject = late.post(f"/approvals/{run['id']}/reject", {"version": run["version"], "plan_digest": run["plan_digest"], "reason": "no"})
    assert reject.status_code == 200, "saying no needs no fresh proof, on the page neither"


def test_a_refusal_by_guards_names_each_of_them(oss01, ann):
    asks = Asker(token(ann))
    run = asks.post("/runs", {"situation": incident().pk, "runbook": "wwid-mismatch-replace"}).json()
    answer = asks.post(f"/runs/{run['id']}/acts/choose", {"version": run["version"], "value": "naa:5000000000000001"})
    assert answer.status_code == 409
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert LedgerEvent.objects.filter(type="run.refused", run=str(run["id"])).count() == 1


def test_a_second_start_begins_nothing(oss01, ann):
    asks = Asker(token(ann))
    body = {"situation": incident().pk, "runbook": "wwid-mismatch-replace"}
    assert asks.post("/runs", body).json()["id"] == asks.post("/runs", body).json()["id"]


def test_breaking_the_glass_is_no_act_of_the_api(oss01, ann):
    asks = Asker(token(ann))
    run = asks.post("/runs", {"situation": incident().pk, "runbook": "wwid-mismatch-replace"}).json()
    assert asks.post(f"/runs/{run['id']}/acts/break-glass", {"version": run["version"], "reason": "x"}).status_code == 422


def test_an_act_without_a_ledger_is_503_and_nothing_is_done(oss01, ann, monkeypatch):
    from app.ledger import services as ledger

    asks = Asker(token(ann))

    def broken(**_):
        raise ledger.LedgerDown("The ledger cannot be written, so nothing is changed: disk full")

    monkeypatch.setattr(ledger, "refuse_if_broken", broken)
    answer = asks.post("/runs", {"situation": incident().pk, "runbook": "wwid-mismatch-replace"})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:slotlight:ledger-down")
    assert not Run.objects.exists()


def test_what_must_be_typed_is_asked_for_and_given_nowhere(oss01, ann, bob, client):
    run = walk_to("confirm", oss01, ann, bob)
    assert services.step_of(run).phrase(run.here.params, run.here.plan) == PHRASE
    asks = Asker(token(ann))
    found = asks.get(f"/runs/{run.pk}")
    assert found["asks"].startswith("Type the last 6 digits of the lost member's guid")
    wrong = asks.post(f"/runs/{run.pk}/acts/confirm", {"version": run.version, "text": "ost_0"})
    assert wrong.status_code == 409
    client.force_login(ann)
    lines = [asks("GET", path).content.decode() for path in (f"/runs/{run.pk}", "/runs", "/approvals", "/ledger", "/open-loops")]
    lines += [client.get(f"/runs/{run.pk}/{page}").content.decode() for page in ("", "now/")]
    assert not [words for words in (*lines, wrong.content.decode()) if PHRASE in words]


def test_a_scan_is_corrected_by_who_may_until_a_command_rests_on_it(tmp_path, ann, bob, dan):
    walk = blink(try_out(tmp_path, BLINK), ann, bob)
    walk.typed["spare"] = "ZAX1O09X"
    asks, path = Asker(token(ann)), f"/runs/{walk.run.pk}"
    assert asks.get(path)["correctable"] is None
    assert "correct" not in asks.get(path)["acts"]
    walk.to("insert")
    rack.insert(walk.node.state, BAY, NEW)
    walk.look()
    found = asks.get(path)
    assert found["correctable"] == {"step": "spare", "asks": "Scan or type the serial number on the new disk.", "was": "ZAX1O09X"}
    assert "correct" in found["acts"]
    fields = {"version": found["version"], "step": "spare"}
    assert Asker(token(dan)).post(f"{path}/acts/correct", fields | {"evidence": NEW}).status_code == 403
    wrong = asks.post(f"{path}/acts/correct", fields | {"evidence": walk.run.params["old_serial"]})
    assert (wrong.status_code, wrong.json()["verdicts"][0]["outcome"]) == (409, "refuse")
    assert asks.post(f"{path}/acts/correct", fields | {"step": "blinks", "evidence": NEW}).status_code == 409
    right = asks.post(f"{path}/acts/correct", fields | {"evidence": f"sn: {NEW.lower()}"})
    assert (right.status_code, right.json()["params"]["spare_serial"]) == (200, NEW)
    assert LedgerEvent.objects.get(run=str(walk.run.pk), type="run.corrected").actor == "ann"
    walk.look()
    assert walk.to().status == "done"
    assert asks.get(path)["correctable"] is None


@pytest.fixture
def observed_walk(observed, ann, bob):
    """Asks as ann, whose plan for a person bob has approved, and the run then."""
    asks, approves = Asker(token(ann)), Asker(token(bob))
    run = asks.post("/runs", {"situation": incident().pk, "runbook": "wwid-mismatch-replace"}).json()
    [blank] = (one for one in run["options"] if one["value"] == BLANK)
    for act, typed in {"choose": {"value": BLANK}, "check-by-hand": {}, "plan-by-hand": {}, "confirm": {"text": PHRASE}}.items():
        assert act in run["acts"], run["acts"]
        answer = asks.post(f"/runs/{run['id']}/acts/{act}", {"version": run["version"], **typed})
        assert answer.status_code == 200, answer.content
        observed.work()
        run = asks.get(f"/runs/{run['id']}")
    assert blank["fits"]
    approves.post(f"/approvals/{run['id']}/approve", {"version": run["version"], "plan_digest": run["plan_digest"]})
    return asks, asks.get(f"/runs/{run['id']}")


def test_a_run_by_hand_is_shown_pasted_and_settled_as_on_the_page(observed_walk, observed, ann, bob):
    asks, run = observed_walk
    path = f"/runs/{run['id']}"
    assert ("show-by-hand" in run["acts"], "execute" in run["acts"], run["by_hand"]) == (True, False, None)
    assert asks.post(f"{path}/acts/execute", {"version": run["version"]}).status_code == 409
    run = asks.post(f"{path}/acts/show-by-hand", {"version": run["version"]}).json()
    assert set(run["acts"]) >= {"look-by-hand", "paste", "settle"}
    kept = Run.objects.get(pk=run["id"]).here
    assert run["by_hand"]["snippet"] == snippet_of(kept)
    assert asks.post(f"{path}/acts/show-by-hand", {"version": run["version"]}).status_code == 409
    printed = f"slotlight: nonce {kept.shown.nonce}\nslotlight: ended with exit code 0, nonce {kept.shown.nonce}\n"
    run = asks.post(f"{path}/acts/paste", {"version": run["version"], "output": printed}).json()
    assert run["by_hand"]["pasted"][0]["reads"] == ["It names this showing.", "It says that the command ended with exit code 0."]
    assert run["status"] == "unknown"
    give(observed, Run.objects.get(pk=run["id"]))
    observed.host.mark(kept.shown.nonce)
    assert asks.post(f"{path}/acts/look-by-hand", {"version": run["version"]}).json()["by_hand"]["looking"]
    observed.work()
    assert (asks.get(path)["step"], asks.get(path)["by_hand"]) == ("resilver", None)
    assert not Order.objects.exclude(effect="pure").exists()


def test_the_snippet_is_for_who_asked_for_it_and_for_no_token_that_only_reads(observed_walk, ann, bob):
    asks, run = observed_walk
    path = f"/runs/{run['id']}"
    assert asks.post(f"{path}/acts/show-by-hand", {"version": run["version"]}).json()["by_hand"]["snippet"]
    others = (Asker(token(bob)), Asker(token(ann, "read")))
    assert [one.get(path)["by_hand"]["snippet"] for one in others] == ["", ""]
    assert Asker(token(ann, "read")).post(f"{path}/acts/paste", {"version": run["version"], "output": "x"}).status_code == 403


def test_a_token_older_than_its_proof_is_shown_no_command(observed_walk, ann):
    _, run = observed_walk
    late = Asker(older(token(ann), timedelta(minutes=16)))
    answer = late.post(f"/runs/{run['id']}/acts/show-by-hand", {"version": run["version"]})
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:slotlight:password-is-old")
