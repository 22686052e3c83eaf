"""The WWID mismatch of a host without an agent, by hand: every question of the run is answered by an archive, and a later one settles it."""

import time

import pytest

from app.fleet.models import Node, Situation
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order
from app.runs.ordering import answers_from_recording, orders, sealing
from app.runs.tests.cast import act
from app.runs.tests.test_by_hand import Marked
from app.snapshots import bringing
from twin import scenarios
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS
from workflows.snapshot.tests import stage

BLANK = scenarios.lab_disk(8, 8).wwid
pytestmark = pytest.mark.django_db


class Bare:
    """A host on which no agent runs. It is read again each time it is brought."""

    def __init__(self, folder, user):
        self.node, self.user = scenarios.drifted(), user
        self.host = Marked(scenarios.host(folder, self.node, scenarios.Clock()))
        self.at = int(time.time()) - 120

    def bring(self, *, at=None):
        self.at = int(at or time.time())
        seen, _ = stage.traced(self.host)
        for disk in self.node.disks:
            for path in disk.paths:
                seen.run(("blkid", "-p", f"/dev/{path.name}"), 20)
        for name in ("begun", "ended", "output"):
            seen.texts |= {path: text.encode() for path, text in self.host.files.items() if path.endswith(name)}
        node = self.node
        data = stage.archive(seen, at=self.at, host=node.hostname, hostid=node.hostid, boot_id=node.boot_id)
        return bringing.bring(data, self.user, bringing.Asked())


@pytest.fixture
def bare(tmp_path, ann):
    host = Bare(tmp_path, ann)
    host.bring(at=time.time() - 5)
    return host


def begun(ann):
    situation = Situation.objects.get(slug="wwid-mismatch", closed_at=None)
    answer = next(one for one in situation.data["answers"] if one["runbook"] == "wwid-mismatch-replace")
    return services.start_run(ann, "wwid-mismatch-replace", answer["params"], situation.key)


def planned(bare, ann):
    run = begun(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    act(run, ev.CheckAsked, ann, by_hand="yes")
    act(run, ev.PlanByHandAsked, ann)
    answers_from_recording.answer_all()
    run.refresh_from_db()
    return run


def shown(bare, ann, bob):
    run = planned(bare, ann)
    assert run.here.plan is not None, run.here.note
    phrase = RUNBOOKS[run.runbook].step(run.step).phrase(run.here.params, run.here.plan)
    act(run, ev.Confirmed, ann, text=phrase)
    run.refresh_from_db()
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    run.refresh_from_db()
    act(run, ev.ByHandAsked, ann)
    run.refresh_from_db()
    return run


def test_a_run_of_a_host_without_an_agent_goes_by_hand_alone(bare, ann):
    run = begun(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    with pytest.raises(services.RunRefused) as refused:
        act(run, ev.CheckAsked, ann)
    against = [verdict for verdict in refused.value.verdicts if verdict.outcome != "pass"]
    assert [verdict.by_hand for verdict in against] == [True], against
    assert "has no agent" in against[0].reason


def test_its_plan_is_made_from_the_archive(bare, ann):
    run = planned(bare, ann)
    assert run.here.plan is not None, (run.here.note, [(o.status, o.reason) for o in Order.objects.all()])
    assert run.here.plan["argv"][:2] == ["zpool", "replace"]
    [event] = LedgerEvent.objects.filter(type="order.receipt")
    assert event.parsed["body"]["archive"]
    assert event.actor == "portal"


def test_an_archive_that_is_taken_later_settles_it(bare, ann, bob):
    run = shown(bare, ann, bob)
    assert run.status == "unknown"
    bare.host.run(tuple(run.here.plan["argv"]), 10)
    bare.host.mark(run.here.shown.nonce)
    act(run, ev.ByHandLookAsked, ann)
    answers_from_recording.answer_all()
    run.refresh_from_db()
    assert run.status == "unknown", "the archive at hand is older than the question"
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.step != "replace", run.here.note
    assert not Order.objects.exclude(effect="pure").exists()


def test_an_archive_without_the_record_settles_nothing(bare, ann, bob):
    run = shown(bare, ann, bob)
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.status == "unknown"
    assert "no command that was run under the nonce" in run.here.note


def test_an_archive_that_began_before_the_look_and_ended_after_it_settles_nothing(bare, ann, bob, client):
    """What it read first may be from before the command."""
    run = shown(bare, ann, bob)
    bare.host.run(tuple(run.here.plan["argv"]), 10)
    bare.host.mark(run.here.shown.nonce)
    act(run, ev.ByHandLookAsked, ann)
    asked_at = Order.objects.get(operation="probe_by_hand").sealed_at
    client.force_login(ann)
    before = words_of(client, run)
    bare.bring(at=asked_at.timestamp() - 1)
    run.refresh_from_db()
    assert run.status == "unknown"
    assert run.here.asked is not None
    after = words_of(client, run)
    assert f"An archive answers this whose collection began after {asked_at:%H:%M:%S} UTC" in after
    assert f"the newest here began at {Node.objects.get().last_report_at:%H:%M:%S} UTC." in after
    assert before != after
    assert (
        f'<a href="/runs/{run.pk}/">Run {run.pk}</a>: oss01 has no agent. An archive answers this whose collection began after'
        in " ".join(client.get("/snapshots/oss01/").content.decode().split())
    )


def words_of(client, run) -> str:
    return " ".join(client.get(f"/runs/{run.pk}/").content.decode().split())


def test_a_run_that_waits_says_what_is_to_be_brought(bare, ann, bob, client):
    run = shown(bare, ann, bob)
    bare.host.run(tuple(run.here.plan["argv"]), 10)
    bare.host.mark(run.here.shown.nonce)
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert (run.step, run.status) == ("resilver", "waiting"), run.here.note
    client.force_login(ann)
    assert (
        "oss01 has no agent. The next archive of it answers this. On your own machine, run <code>slotlight collect oss01</code>."
        in words_of(client, run)
    )


def test_a_question_that_no_archive_answered_in_time_says_so(bare, ann, bob, monkeypatch):
    run = shown(bare, ann, bob)
    monkeypatch.setattr(sealing, "BROUGHT_SECONDS", 0)
    act(run, ev.ByHandLookAsked, ann)
    orders.sweep()
    run.refresh_from_db()
    assert run.status == "unknown"
    assert "no archive that answers this was brought in time" in run.here.note
    assert "agent." not in run.here.note.replace("has no agent", "")


def test_an_old_archive_plans_nothing(tmp_path, ann):
    Bare(tmp_path, ann).bring(at=time.time() - 3600)
    run = begun(ann)
    with pytest.raises(services.RunRefused) as refused:
        act(run, ev.Chosen, ann, value=BLANK)
    assert any("Bring it again" in verdict.reason for verdict in refused.value.verdicts)
    assert Node.objects.get().is_brought
