"""The WWID mismatch of a FreeBSD or illumos host without an agent, by hand to its end: archives answer every question, and the snippet runs under a shell."""

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agents.operations._candidate import at_the_ends
from app.runs import tasks
from app.runs.models import Order
from app.runs.ordering import answers_from_recording
from app.runs.tests.cast import act
from app.snapshots import bringing
from app.snapshots.tests.test_by_hand import begun
from twin import scenarios
from twin.freebsd import FreeBSDHost
from twin.illumos import IllumosHost
from workflows.by_hand import snippet
from workflows.engine import events as ev
from workflows.runbooks import RUNBOOKS
from workflows.snapshot.tests import stage

pytestmark = pytest.mark.django_db
NEW = scenarios.lab_disk(8, 8)
NAME = f"c0t{NEW.hex.upper()}d0"


class Bare:
    """A host on which no agent runs. It is read again each time it is brought; what snippets left on it lies in a folder."""

    system: str
    blank: str
    link: str
    asked: tuple[tuple[str, ...], ...]

    def __init__(self, folder: Path, user):
        self.folder, self.user = folder, user
        self.clock = scenarios.Clock()
        (folder / "twin").mkdir()
        self.host = self.made(scenarios.host(folder / "twin", scenarios.drifted(), self.clock))

    def seen(self):
        seen, _ = stage.traced(self.host)
        for argv in self.of_free_disks():
            seen.run(argv, 60)
        for file in (self.folder / "marks").glob("*/*"):
            path = f"/var/run/slotlight/by-hand/{file.parent.name}/{file.name}"
            seen.texts[path] = file.read_bytes()
            seen.listed.add(path.rpartition("/")[0])
        return seen

    def bring(self, *, at=None):
        node = self.host.node
        about = {"host": node.hostname, "hostid": node.hostid, "boot_id": self.host.boot_id, "system": self.system}
        return bringing.bring(stage.archive(self.seen(), at=int(at or time.time()), **about), self.user, bringing.Asked())

    def paste(self, run):
        """What a person sees who pastes the snippet into a root shell there."""
        seen, pool = self.seen(), run.here.params["pool"]
        for argv in (*self.asked, ("id", "-u"), ("zpool", "status", "-g", pool), ("zpool", "get", "-Hpo", "value", "guid", pool)):
            seen.run(argv, 10)
        tools = self.folder / f"tools-{len(list(self.folder.iterdir()))}"
        stage.tools(tools, {self.there(argv): self.answered(ran) for argv, (ran, _) in seen.ran.items()})
        self.more_tools(tools)
        (tools / "ran").touch()
        wrapped = (
            (tools / "zpool")
            .read_text()
            .replace("#!/bin/sh\n", f'#!/bin/sh\n[ "$1" = replace ] && {{ echo "$*" >>{tools}/ran; exit 0; }}\n', 1)
        )
        (tools / "zpool").write_text(wrapped)
        paths = snippet.Paths(
            f"{tools}:/usr/bin:/bin", "dash", marks_without_run=str(self.folder / "marks"), rdsk=str(self.folder / "rdsk")
        )
        text = self.as_here(snippet.make(run.here.plan, run.here.shown.nonce, int(run.here.shown.until), paths))
        ended = subprocess.run(("dash",), input=text, capture_output=True, text=True, timeout=60, check=False)
        if given := (tools / "ran").read_text().split():
            self.host.run(("zpool", *given), 10)
        return ended

    def there(self, argv):
        return argv

    def answered(self, ran):
        return ran

    def as_here(self, text):
        return text

    def more_tools(self, tools):
        pass


class FreeBSD(Bare):
    system = "FreeBSD"
    blank, link = f"geom:{NEW.hex}:{NEW.serial}", f"/dev/diskid/DISK-{NEW.serial}"
    asked = (("sysctl", "-n", "kern.hostid"), ("sysctl", "-nx", "kern.boot_id"), ("sha256", "-q"))
    made = FreeBSDHost
    differs = "ELI da4.eli"

    def of_free_disks(self):
        names = [name for disk in self.host.node.disks for name in (self.host.disk_name(disk), f"{self.host.disk_name(disk)}p1")]
        return [(*argv, f"/dev/{name}") for name in names for argv in (("zdb", "-l"), ("fstyp", "-u"), ("file", "-bs"))]

    def as_here(self, text):
        return text.replace('[ -e "$1" ] &&', "")

    def boots(self):
        self.host.boot_id = "22222222-2222-3333-4444-555555555555"

    def changes(self):
        self.host.stacked["da4"] = ("1 ELI da4.eli 536866816 4096",)


class Illumos(Bare):
    system = "SunOS"
    blank, link = f"dsk:{NAME}", f"/dev/dsk/{NAME}"
    asked = ()
    made = IllumosHost
    differs = "[sbd]"

    def of_free_disks(self):
        return [at_the_ends(NAME, NEW.size_bytes)]

    def there(self, argv):
        return tuple(word.replace("/dev/rdsk/", f"{self.folder}/rdsk/") for word in argv)

    def answered(self, ran):
        return replace(ran, stderr=ran.stderr.replace(b"/dev/rdsk/", f"{self.folder}/rdsk/".encode()))

    def more_tools(self, tools):
        """The links of its disks, a `dd` that reads zeros, and an `ls` that lists links too."""
        rdsk = self.folder / "rdsk"
        rdsk.mkdir(exist_ok=True)
        for line in self.host.run(("ls", "-l", "/dev/rdsk"), 10).stdout.decode().splitlines()[1:]:
            name, _, target = line.split()[-3:]
            (rdsk / name).unlink(missing_ok=True)
            (rdsk / name).symlink_to(target)
        tail = NEW.size_bytes - (int(at_the_ends(NAME, NEW.size_bytes)[2]) << 20)
        for name, text in {
            "dd": f'case "$*" in *count=4*) exec head -c 4194304 /dev/zero ;; *) exec head -c {tail} /dev/zero ;; esac\n',
            "ls": f'if [ "$1" = -dE ]; then exec {tools}/ls-of-proc "$@"; else exec /bin/ls "$@"; fi\n',
            "digest": f"echo {'5' * 64}\n",
        }.items():
            if name == "ls":
                (tools / "ls").rename(tools / "ls-of-proc")
                (tools / "ls-of-proc").write_text((tools / "ls-of-proc").read_text().replace("${0##*/}.", "ls."))
            (tools / name).write_text(f"#!/bin/sh\n{text}")
            (tools / name).chmod(0o755)

    def boots(self):
        self.host.made = ("2026-11-30 03:10:09.223456781", "2026-11-30 03:10:09.754321091")

    def changes(self):
        self.host.opened[NAME] = "sbd"


@pytest.fixture(params=[FreeBSD, Illumos])
def bare(request, tmp_path, ann):
    host = request.param(tmp_path, ann)
    host.bring(at=time.time() - 5)
    return host


def walked(bare, ann, bob):
    run = begun(ann)
    act(run, ev.Chosen, ann, value=bare.blank)
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
    run = walked(bare, ann, bob)
    assert run.here.plan["argv"] == ["zpool", "replace", "ost_1", run.here.params["vdev_guid"], bare.link]
    ended = bare.paste(run)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    again = bare.paste(run)
    assert (again.returncode, "begun before" in again.stdout) == (snippet.BEGUN_BEFORE, True)
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert (run.step, run.status) == ("resilver", "waiting"), run.here.note
    bare.clock.sleep(3600)
    for later in (3, 4, 5):  # two, and one more where the machine's clock was set back between a question and the archive that answers it
        bare.bring(at=time.time() + later)
        tasks.facts_arrived(run.node)
        run.refresh_from_db()
    assert (run.step, run.status) == ("verify", "done"), run.here.note
    assert not Order.objects.exclude(effect="pure").exists()


def test_neither_a_paste_nor_an_archive_of_another_boot_settles_it(bare, ann, bob):
    run = walked(bare, ann, bob)
    assert bare.paste(run).returncode == 0
    bare.boots()
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.status == "unknown"
    assert "is not the one that was planned" in run.here.note


def test_what_differs_by_now_is_named_and_nothing_is_run(bare, ann, bob):
    run = walked(bare, ann, bob)
    bare.changes()
    ended = bare.paste(run)
    assert (ended.returncode, bare.differs in ended.stdout) == (snippet.DIFFERS, True), ended.stdout
    act(run, ev.ByHandLookAsked, ann)
    bare.bring(at=time.time() + 2)
    run.refresh_from_db()
    assert run.status == "unknown"
