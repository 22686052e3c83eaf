"""Events, histories and the kernel log, on genuine texts and where no capture shows it on composed ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.collectors import kernel_log, zpool_events, zpool_history
from agents.collectors.base import Unparsed
from agents.host.host import Ran
from agents.tests.scenarios import STEPS, step
from twin.captured_host import CapturedHost

MADE_UP = Path(__file__).parent / "captures"


class Prints:
    """A host that answers every command with one text."""

    def __init__(self, text: str, state: str = "ONLINE", truncated: bool = False) -> None:
        self.text, self.state, self.truncated, self.asked = text, state, truncated, []

    def run(self, argv, timeout_seconds):
        self.asked.append(tuple(argv))
        return Ran(tuple(argv), 0, self.text.encode(), b"", 0.1, truncated=self.truncated and argv[2] == "-il")

    def read(self, path):
        return self.state.encode() + b"\n"


def events(name: str):
    (capture,) = zpool_events.collect(CapturedHost(step(name)))
    return zpool_events.parse(capture.text)


def log(name: str):
    (capture,) = kernel_log.collect(CapturedHost(step(name)))
    return kernel_log.parse(capture.text)


def test_it_reads_genuine_events():
    (changed,) = [e for e in events("disk-removed/2-removed") if e.kind == "resource.fs.zfs.statechange"][:1]
    assert (changed.at, changed.nanoseconds, changed.eid) == (0x6B015019, 460000000, 0x35)
    assert (changed.text("pool"), changed.number("vdev_guid")) == ("ost_0", 0xB42C3359D26A2F68)
    assert (changed.text("vdev_state"), changed.number("vdev_state")) == ("ONLINE", None)


@pytest.mark.parametrize("name", [name for name in STEPS if (step(name) / "zpool-events-v.txt").exists()])
def test_every_genuine_event_has_its_place_and_time(name):
    found = events(name)
    assert [e.eid for e in found] == sorted({e.eid for e in found})
    assert not any(e.kind == zpool_events.HISTORY for e in found)
    assert all(1795200000 < e.at < 1795300000 for e in found)


def test_a_suspension_is_among_the_events():
    assert events("mmp-suspended/2-suspended")[-1].kind == "ereport.fs.zfs.io_failure"


EVENT = """Nov 21 2026 08:53:15.988000000 sysevent.fs.zfs.pool_import
        version = 0x0
        class = "sysevent.fs.zfs.pool_import"
        pool = "ost_off"
        time = 0x6b015bfb 0x3ae3af00
        eid = 0x3

"""
EVENT = EVENT.replace("0x3ae3af00", "0x3ae3af00 ")  # zpool prints a space behind each element of an array
HEAD = "TIME                           CLASS\n"


def test_only_the_newest_are_kept():
    records = [EVENT.replace("0x3\n", f"{n:#x}\n") for n in range(1, 301)]
    (capture,) = zpool_events.collect(Prints(HEAD + "".join(records)))
    assert [e.eid for e in zpool_events.parse(capture.text)] == list(range(201, 301))
    assert capture.reason == "the 200 oldest of these records were left out"


@pytest.mark.parametrize(
    "wrong",
    [
        EVENT.replace("0x3ae3af00", "0x3ae3af01"),  # the two times of one record differ
        EVENT.replace('class = "sysevent.fs.zfs.pool_import"', 'class = "sysevent.fs.zfs.pool_export"'),
        EVENT.replace("        eid = 0x3\n", ""),
        EVENT.replace('        pool = "ost_off"\n', '        pool = "ost_off"\n        pool = "tank"\n'),
        EVENT[:-1],
        EVENT[:-2],
    ],
)
def test_a_record_torn_into_another_is_refused(wrong):
    assert len(zpool_events.parse(HEAD + EVENT)) == 1
    assert isinstance(zpool_events.parse(HEAD + wrong), Unparsed)


def test_nothing_happened_is_not_nothing_said():
    assert zpool_events.parse(HEAD) == ()
    assert isinstance(zpool_events.parse(""), Unparsed)


def test_it_reads_a_genuine_history():
    read = zpool_history.parse(zpool_history.collect_one(CapturedHost(step("disk-removed/5-resilver-start")), "ost_0").text)
    commands = [entry.text for entry in read.entries if entry.kind == "command"]
    assert commands[-1] == "zpool replace ost_0 12982808286677577576 /dev/disk/by-id/wwn-0x5000c500a65b207b"
    assert any(e.txg == 76 and e.text.startswith("vdev attach replace") for e in read.entries)


def test_it_reads_who_gave_a_command():
    """Composed: nobody recorded `-l`."""
    read = zpool_history.parse((MADE_UP / "zpool_history" / "made-up--with-users.txt").read_text())
    assert [(e.kind, e.who) for e in read.entries if e.kind == "command"] == [
        ("command", "user 0 (root) on oss01:linux"),
        ("command", "user 1000 (ann) on oss01:linux"),
        ("command", "user 0 (root) on oss01:linux"),
    ]
    assert read.entries[-1].text == "zpool replace ost_0 14718944552882581455 /dev/disk/by-id/wwn-0x5000c500a670c5fb"


def test_who_handed_something_to_an_ioctl_has_a_line_of_his_own():
    """Genuine, from the lab: the vdevs of a pool that was just made were reopened, by whom is not said."""
    read = zpool_history.parse((MADE_UP / "zpool_history" / "zpool-history-2.1.11--ioctl-reopen.txt").read_text())
    made, first = [entry for entry in read.entries if entry.kind != "internal"][:2]
    assert (made.kind, made.who) == ("command", "user 0 (root) on oss02:linux")
    assert (first.kind, first.text, first.who) == ("ioctl", "reopen\n    input:\n        scrub_restart: false", made.who)


def test_a_suspended_pool_is_not_asked_for_its_history():
    host = Prints("", "SUSPENDED")
    capture = zpool_history.collect_one(host, "ost_5")
    assert (capture.outcome, host.asked) == ("failed", [])
    assert "ost_5 is suspended" in capture.reason


def test_where_all_is_too_much_the_commands_alone_are_asked():
    host = Prints("History for 'tank':\n2026-11-21.08:37:20 zpool create tank\n\n", truncated=True)
    capture = zpool_history.collect_one(host, "tank")
    assert [argv[2] for argv in host.asked] == ["-il", "-l"]
    assert zpool_history.parse(capture.text).entries[0].text == "zpool create tank"


def test_only_the_end_of_a_history_is_kept():
    records = "".join(f"2026-11-21.08:37:20 [txg:{n}] set x={n}\n" for n in range(500))
    capture = zpool_history.collect_one(Prints(f"History for 'tank':\n{records}\n"), "tank")
    assert [e.txg for e in zpool_history.parse(capture.text).entries] == list(range(350, 500))


@pytest.mark.parametrize("name", [name for name in STEPS if (step(name) / "dmesg-tail.txt").exists()])
def test_it_classifies_genuine_lines(name):
    """Each kind of line is one that its words name."""
    words = {"io-error": "error, dev", "command-failed": "hostbyte=", "zio-error": "zio pool=", "multihost-suspended": "MMP writes"}
    for event in log(name).events:
        assert words.get(event.kind, "") in event.line


def test_it_reads_the_genuine_suspension():
    mmp, suspended = log("mmp-suspended/2-suspended").events[-2:]
    assert (mmp.kind, mmp.field("pool"), mmp.field("after"), mmp.field("unit")) == ("multihost-suspended", "ost_5", "10041", "ms")
    assert (suspended.kind, suspended.at_us) == ("suspended", 75_553_181)


def test_it_reads_a_multihost_suspension_of_2_3_and_its_end():
    """It prints one line where 2.1 prints two, and says when it let the pool go on."""
    read = kernel_log.parse((MADE_UP / "kernel_log" / "dmesg-6.1.0--multihost-suspended-and-resumed-zfs-2.3.2.txt").read_text())
    lines = [(event.kind, event.field("pool"), event.at_us) for event in read.events if event.field("pool")]
    assert lines == [("multihost-suspended", "ost_12", 300_632_053), ("resumed", "ost_12", 402_066_396)]


def test_it_reads_genuine_errors_of_a_pulled_disk():
    kinds = {event.kind for event in log("disk-removed/1-pulled-not-noticed").events}
    assert {"command-failed", "io-error", "zio-error"} <= kinds


def test_it_reads_what_an_hba_says_of_a_slow_disk():
    """Composed after the lines of mpt3sas: the lab's HBA has another driver."""
    read = kernel_log.parse((MADE_UP / "kernel_log" / "made-up--mpt3sas-task-abort.txt").read_text())
    assert [event.kind for event in read.events] == [
        *("task-abort-begun", "cdb", "target", "place", "task-abort", "command-failed", "io-error", "io-error", "hba", "rejected"),
        *("unblocked", "zio-error", "multihost-suspended", "suspended", "parameter-unknown"),
    ]
    place = read.events[3]
    assert (place.field("enclosure"), place.field("slot")) == ("0x50050cc11ac016e2", "30")
    assert read.events[12].field("unit") == "s"  # before 0.8 it counts in seconds


def test_what_says_something_is_kept_however_old():
    old = "[    1.000000] WARNING: MMP writes to pool 'a' have not succeeded in over 10041 ms; suspending pool. Hrtime 1\n"
    (capture,) = kernel_log.collect(Prints(old + "".join(f"[{n:5d}.000000] usb {n}: new device\n" for n in range(2, 3000))))
    assert capture.text.startswith(old)
    assert capture.text.count("\n") == 1 + kernel_log.LAST_KEPT
    assert len(kernel_log.parse(capture.text).events) == 1


@pytest.mark.parametrize("text", ["dmesg: read kernel buffer failed: Operation not permitted\n", "[   75.551641] WARNING: MMP writes"])
def test_what_is_no_kernel_log_is_refused(text):
    assert isinstance(kernel_log.parse(text), Unparsed)


def test_an_empty_log_says_nothing():
    assert kernel_log.parse("").events == ()


def test_a_failed_command_stays_failed():
    class Fails(Prints):
        def run(self, argv, timeout_seconds):
            return replace(super().run(argv, timeout_seconds), exit_code=1)

    assert [module.collect(Fails(""))[0].outcome for module in (kernel_log, zpool_events)] == ["failed", "failed"]


def test_the_genuine_abort_of_a_disk_that_hangs_names_it_by_the_line_after():
    """mptscsih says only which command; the lab's disk 4 answered nothing."""
    (begun,) = [e for e in hangs("import-after-45s.txt").events if e.kind == "task-abort-begun"]
    assert (begun.field("hctl"), begun.field("disk"), begun.field("scmd")) == ("2:0:4:0", "sde", "0000000079e0d04f")
    ended = [(e.field("result"), e.field("scmd")) for e in hangs("import-after-delete.txt").events if e.kind == "task-abort"]
    assert ended == [("FAILED", "0000000079e0d04f")]


def hangs(name: str) -> kernel_log.KernelLog:
    """The combined output, from its first stamped line on."""
    text = (step("import-blocked-labels/4-disk-hangs") / name).read_text()
    return kernel_log.parse(text[text.index("[    ") :])


def test_the_line_that_names_an_aborted_commands_disk_is_kept():
    old = "[    1.000000] mptscsih: ioc0: attempting task abort! (sc=1f)\n[    1.000001] sd 2:0:4:0: [sde] tag#44 CDB: Read(10) 28\n"
    (capture,) = kernel_log.collect(Prints(old + "".join(f"[{n:5d}.000000] usb {n}: new device\n" for n in range(2, 3000))))
    assert kernel_log.parse(capture.text).events[0].field("disk") == "sde"
