"""The WWID mismatch of a FreeBSD host without an agent, by hand to its end: archives answer every question, and the snippet runs under a shell."""

import subprocess
import time
from pathlib import Path

import pytest

from app.runs import tasks
from app.runs.models import Order
from app.runs.ordering import answers_from_recording
from app.runs.tests.cast import act
from app.snapshots import bringing
from app.snapshots.tests.test_by_hand import begun
from twin import scenarios
from twin.freebsd import FreeBSDHost
from workflows.by_hand import snippet
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS
from workflows.snapshot.tests import stage

pytestmark = pytest.mark.django_db
NEW = scenarios.lab_disk(8, 8)
BLANK = f"geom:{NEW.wwid.partition(':')[2]}:{NEW.serial}"
LINK = f"/dev/diskid/DISK-{NEW.serial}"
SMALL = ("awk", "sed", "grep", "cat", "sort", "mkdir", "mv", "date", "env", "printf", "sh", "dash")


class Bare:
    """A FreeBSD host on which no agent runs. It is read again each time it is brought; what snippets left on it lies in a folder."""

    def __init__(self, folder: Path, user, **more):
        self.folder, self.user = folder, user
        self.clock = scenarios.Clock()
        (folder / "twin").mkdir()
        self.host = FreeBSDHost(scenarios.host(folder / "twin", scenarios.drifted(), self.clock), **more)

    def seen(self):
        seen, _ = stage.traced(self.host)
        for disk in self.host.node.disks:
            for name in (self.host.disk_name(disk), f"{self.host.disk_name(disk)}p1"):
                for argv in (("zdb", "-l"), ("fstyp", "-u"), ("file", "-bs")):
                    seen.run((*argv, f"/dev/{name}"), 20)
        for file in (self.folder / "marks").glob("*/*"):
            path = f"/var/run/slotlight/by-hand/{file.parent.name}/{file.name}"
            seen.texts[path] = file.read_bytes()
            seen.listed.add(path.rpartition("/")[0])
        return seen

    def bring(self, *, at=None):
        node = self.host.node
        about = {"host": node.hostname, "hostid": node.hostid, "boot_id": self.host.boot_id, "system": "FreeBSD"}
        return bringing.bring(stage.archive(self.seen(), at=int(at or time.time()), **about), self.user, bringing.Asked())

    def paste(self, run, **answers):
        """What a person sees who pastes the snippet into a root shell there. `answers` are those of `uname` and the like, changed for a test."""
        seen, pool = self.seen(), run.here.params["pool"]
        asked = [
            ("sysctl", "-n", "kern.hostid"),
            ("sysctl", "-nx", "kern.boot_id"),
            ("zpool", "status", "-g", pool),
            ("id", "-u"),
            ("sha256", "-q"),
        ]
        asked += [("zpool", "get", "-Hpo", "value", "guid", pool)]
        for argv in asked:
            seen.run(argv, 10)
        tools = self.folder / f"tools-{len(list(self.folder.iterdir()))}"
        stage.tools(tools, {argv: ran for argv, (ran, _) in seen.ran.items()})
        (tools / "ran").touch()
        (tools / "zpool-replace").write_text("")
        wrapped = (
            (tools / "zpool")
            .read_text()
            .replace("#!/bin/sh\n", f'#!/bin/sh\n[ "$1" = replace ] && {{ echo "$*" >>{tools}/ran; exit 0; }}\n', 1)
        )
        (tools / "zpool").write_text(wrapped)
        paths = snippet.Paths(f"{tools}:/usr/bin:/bin", "dash", marks_without_run=str(self.folder / "marks"))
        text = snippet.make(run.here.plan, run.here.shown.nonce, int(run.here.shown.until), paths).replace('[ -e "$1" ] &&', "")
        ended = subprocess.run(("dash",), input=text, capture_output=True, text=True, timeout=60, check=False)
        if given := (tools / "ran").read_text().split():
            self.host.run(("zpool", *given), 10)
        return ended


@pytest.fixture
def bare(tmp_path, ann):
    host = Bare(tmp_path, ann)
    host.bring(at=time.time() - 5)
    return host


def walked(ann, bob):
    run = begun(ann)
    act(run, ev.Chosen, ann, value=BLANK)
    act(run, ev.HandsDone, ann, evidence=NEW.serial)
    act(run, ev.CheckAsked, ann, by_hand="yes")
    act(run, ev.PlanByHandAsked, ann)
    answers_from_recording.answer_all()
    run.refresh_from_db()
    assert run.here.plan is not None, (run.here.note, [(o.status, o.reason) for o in Order.objects.all()])
    act(run, ev.Confirmed, ann, text=RUNBOOKS[run.runbook].step(run.step).phrase(run.here.params, run.here.plan))
    run.refresh_from_db()
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    run.refresh_from_db()
    act(run, ev.ByHandAsked, ann)
    run.refresh_from_db()
    return run


def test_it_goes_by_hand_to_its_verified_end(bare, ann, bob):
    run = walked(ann, bob)
    assert run.here.plan["argv"] == ["zpool", "replace", "ost_1", run.here.params["vdev_guid"], LINK]
    ended = bare.paste(run)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    again = bare.paste(run)
    assert (again.returncode, "begun before" in again.stdout) == (snippet.BEGUN_BEFORE, True)
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert (run.step, run.status) == ("resilver", "waiting"), run.here.note
    bare.clock.sleep(3600)
    for later in (3, 4):
        bare.bring(at=time.time() + later)
        tasks.facts_arrived(run.node)
        run.refresh_from_db()
    assert (run.step, run.status) == ("verify", "done"), run.here.note
    assert not Order.objects.exclude(effect="pure").exists()


def test_neither_a_paste_nor_an_archive_of_another_boot_settles_it(bare, ann, bob):
    run = walked(ann, bob)
    assert bare.paste(run).returncode == 0
    bare.host.boot_id = "22222222-2222-3333-4444-555555555555"
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.status == "unknown"
    assert "is not the one that was planned" in run.here.note


def test_what_differs_by_now_is_named_and_nothing_is_run(bare, ann, bob):
    run = walked(ann, bob)
    bare.host.stacked["da4"] = ("1 ELI da4.eli 536866816 4096",)
    ended = bare.paste(run)
    assert (ended.returncode, "ELI da4.eli" in ended.stdout) == (snippet.DIFFERS, True), ended.stdout
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.status == "unknown"
