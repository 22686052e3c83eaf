"""A dead head's pool taken over through the portal: what is pasted, what the second person reads, and what stays open afterwards."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.collectors import COLLECTORS
from app.fleet.ingest import intake
from app.fleet.models import Node
from app.fleet.situations import settle_all
from app.fleet.tests import cast as fleet
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import OpenLoop, Run
from app.runs.tests.cast import try_out
from app.runs.tests.walks import Walk
from twin.demo import state_path
from twin.host import TwinHost
from workflows.rehearsal import tryout
from workflows.runbooks.take_over.rehearsal import SERIALS
from workflows.tests.test_fencing import FRU, STATUS, WATCHDOG

pytestmark = pytest.mark.django_db

SCENARIO = "take-over"
HERE, DEAD = tryout.node_names(SCENARIO)
SILENT_SECONDS, LOOKED_SECONDS = 900, 70


class Head:
    """The dead one, which reported once, a quarter of an hour ago."""

    def __init__(self, folder) -> None:
        tryout.make(folder, SCENARIO, timezone.now().timestamp())
        self.host = TwinHost(state_path(folder, DEAD))
        Node.objects.create(name=DEAD, state=Node.State.ENROLLED)

    def report(self) -> None:
        captures = [capture for module in COLLECTORS.values() for capture in module.collect(self.host)]
        payload = fleet.payload(DEAD, captures, boot_id="boot", version="0", mode="operate")
        assert intake.receive(DEAD, payload, timezone.now()) == []


@pytest.fixture
def head(tmp_path):
    found = Head(tmp_path / "twin")
    found.report()
    silent()
    return found


def silent() -> None:
    Node.objects.filter(name=DEAD).update(last_report_at=timezone.now() - timedelta(seconds=SILENT_SECONDS))


@pytest.fixture
def walk(head, tmp_path, ann, bob):
    node = try_out(tmp_path, SCENARIO)
    silent()
    node.report()
    settle_all(timezone.now())
    walk = Walk(node, ann, bob, SCENARIO)
    walk.typed = {
        "fence": f"chassis: {SERIALS['chassis_serial']}\nunplugged",
        "start": "Keys loaded, all mounted.",
        "secure": "Its SAS cables are unplugged, by ann.",
    }
    return walk


def a_minute_ago(walk) -> None:
    """The first look was kept, more than a minute before the node reports again."""
    walk.look()
    params = walk.run.state["params"]
    earlier = {**params, "looked_at": str(int(params["looked_at"]) - LOOKED_SECONDS)}
    Run.objects.filter(pk=walk.run.pk).update(state={**walk.run.state, "params": earlier})
    walk.look()


def to_the_import(walk):
    walk.to("still")
    a_minute_ago(walk)
    return walk.to("import")


def test_it_is_taken_over_by_two_people_and_stays_open_until_the_head_cannot_import_it(walk, client):
    to_the_import(walk)
    shown = walk.page(client)
    assert "zpool import -f -N -o cachefile=none" in shown
    assert "no power; by a scan at the rack" in shown
    walk.to("secure")
    (command,) = walk.node.commands()
    assert command[:3] == ["zpool", "import", "-f"]
    walk.to("returned")
    (loop,) = OpenLoop.objects.all()
    assert "must not import it when it has power again" in loop.what


def test_what_is_pasted_has_a_field_of_many_lines_on_both_pages(walk, client):
    walk.to("fence")
    assert "<textarea" in walk.page(client)
    client.force_login(walk.ann)
    assert "<textarea" in client.get(f"/runs/{walk.run.pk}/now/").content.decode()


def test_a_text_of_a_controller_is_taken_from_the_form(walk, client):
    walk.to("fence")
    at = timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    client.force_login(walk.ann)
    form = {"act": "hands", "version": walk.run.version, "evidence": f"{at}\r\n{STATUS}{WATCHDOG}{FRU}".replace("\n", "\r\n")}
    client.post(f"{walk.run.get_absolute_url()}act/", form)
    walk.run.refresh_from_db()
    assert walk.run.step == "still"
    kept = LedgerEvent.objects.filter(run=str(walk.run.pk), type="run.done-by-hand").get()
    assert "Power Restore Policy : always-off" in str(kept.parsed)


def test_a_password_that_was_pasted_along_is_kept_nowhere(walk, client):
    walk.to("fence")
    client.force_login(walk.ann)
    form = {"act": "hands", "version": walk.run.version, "evidence": f"$ ipmitool -H bmc -U root -P hunter22 chassis status\n{STATUS}"}
    client.post(f"{walk.run.get_absolute_url()}act/", form)
    walk.run.refresh_from_db()
    assert walk.run.step == "fence"
    assert not any("hunter22" in str(event.parsed) for event in LedgerEvent.objects.all())


def test_a_head_that_reports_while_it_is_checked_stops_it(walk, head):
    to_the_import(walk)
    head.report()
    with pytest.raises(services.RunRefused) as refused:
        walk.go()
    assert any("so it runs" in verdict.reason for verdict in refused.value.verdicts)
    assert walk.node.commands() == []
