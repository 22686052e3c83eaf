"""A disk that answers nothing: by the kernel's log, by the agent's own questions; and what only looks like it."""

from dataclasses import replace

import pytest

from agents.collectors.base import Capture
from agents.tests.scenarios import step
from workflows.facts import FleetFacts, Unknown, node_facts
from workflows.facts.tests.played import captures
from workflows.situations import detect_all, disk_hangs

HEALTHY = "healthy-raidz2"
SDE = "naa:5000c500a65b204b"
LOG = (step("import-blocked-labels/4-disk-hangs") / "import-after-delete.txt").read_text()
GENUINE = LOG[LOG.index("[    6.") :]
STUCK = "zdb -l /dev/{}1: stuck after 20.0 s"


def with_captures(*more: Capture, name: str = HEALTHY, **changes) -> FleetFacts:
    collected = dict(captures(name)) | {f"{c.source}/{c.key}" if c.key else c.source: c for c in more}
    return FleetFacts({"oss01": replace(node_facts("oss01", collected, 1.0, ()), **changes)})


def log(text: str) -> Capture:
    return Capture("kernel_log", "", "data", text)


def silent(*disks: str, why: str = STUCK) -> list[Capture]:
    return [Capture("zdb_label", f"{d}1", "failed", "", why.format(d)) for d in disks]


def only(facts):
    (found,) = disk_hangs.detect(facts)
    return found


def test_the_genuine_abort_that_has_no_end_is_acted_upon():
    begun = GENUINE[: GENUINE.index("[  265.")]
    found = only(with_captures(log(begun)))
    assert (found.severity, found.sure, found.subject["wwid"], found.subject["pool"]) == ("act", True, SDE, "ost_0")
    assert "sde (naa:5000c500a65b204b)" in found.meaning
    assert "never ended" in found.meaning
    assert "Pull it" in found.meaning
    assert found.evidence[0].line.startswith("mptscsih: ioc0: attempting task abort!")


def test_an_abort_that_failed_is_over_when_the_disk_answers_again():
    """The same log, and the labels and pages of the disk were read after it."""
    assert "1 of these attempts failed" in only(with_captures(log(GENUINE))).meaning
    assert only(with_captures(log(GENUINE))).severity == "watch"
    assert only(with_captures(log(GENUINE), *silent("sde"))).severity == "act"


ABORT = "[{0}.000000] sd 2:0:4:0: attempting task abort! scmd({0})\n[{0}.000001] sd 2:0:4:0: task abort: SUCCESS scmd({0})\n"


@pytest.mark.parametrize(("times", "severities"), [(1, []), (2, ["watch"])])
def test_aborts_that_come_again_are_watched_and_one_is_chance(times, severities):
    text = "".join(ABORT.format(100 + n) for n in range(times))
    assert [s.severity for s in disk_hangs.detect(with_captures(log(text)))] == severities


def test_the_agents_own_question_tells_it():
    found = only(with_captures(*silent("sde")))
    assert (found.severity, found.subject["wwid"]) == ("act", SDE)
    assert ("zdb_label/sde1", f"The node's ZFS label of sde1 was not read: {STUCK.format('sde')}.") in [
        (e.source, e.line) for e in found.evidence
    ]


@pytest.mark.parametrize(
    "why",
    [
        "zdb -l /dev/{}1: stuck after 20.0 s",
        "zdb_label/{}1 was asked at 03:14:15 and has not answered; second try 03:24:15. Its process is stuck in the kernel and cannot be killed.",
        "zdb_label/{}1 was asked at 03:14:15 and has not answered; next try 03:24:15.",
        "zdb_label/{}1 was asked at 03:14:15 and has not answered. It reads for ever.",
    ],
)
def test_every_way_the_agent_says_so_is_understood(why):
    assert only(with_captures(*silent("sde", why=why))).severity == "act"


ONCE = ["zdb -l /dev/{}1: timeout after 20.0 s", "zdb_label/{}1 was asked at 03:14:15 and has not answered; second try 03:14:45."]


@pytest.mark.parametrize("why", ONCE)
def test_one_question_that_ran_out_of_time_once_has_no_disk_pulled(why):
    """As seen on a real node short of CPU, of two healthy members in turn."""
    found = only(with_captures(*silent("sde", why=why)))
    assert (found.severity, found.sure) == ("watch", False)
    assert "Pull it" not in found.meaning
    assert "pull nothing" in found.meaning
    assert [s.severity for s in disk_hangs.detect(with_captures(*silent("sdb", "sde", "sdf", why=why)))] == ["watch"] * 3


@pytest.mark.parametrize("why", ONCE)
def test_two_questions_in_vain_or_an_abort_beside_one_are_more_than_chance(why):
    smart = Capture("smart", "sde", "failed", "", why.format("sde"))
    assert only(with_captures(smart, *silent("sde", why=why))).severity == "act"
    assert only(with_captures(log(GENUINE), *silent("sde", why=why))).severity == "act"


@pytest.mark.parametrize(
    "why",
    ["zdb_label/{}1 is not asked while smart/sdz, asked at 03:14:15, has not answered.", "zdb -l /dev/{}1 exited 1", "permission denied"],
)
def test_what_is_no_silence_of_this_disk_says_nothing(why):
    assert disk_hangs.detect(with_captures(*silent("sde", why=why))) == ()


def test_several_at_once_are_one_situation_about_what_they_share():
    found = only(with_captures(*silent("sdb", "sde", "sdf")))
    assert "3 disks" in found.title
    assert "Pull none" in found.meaning


def test_a_question_that_hardly_anybody_answers_accuses_no_disk():
    assert disk_hangs.detect(with_captures(*silent("sda", "sdb", "sdc", "sdd", "sde"))) == ()


def test_a_slow_disk_that_answers_late_is_not_called_hanging():
    """slow-disk/1-writing: zdb gave up on it there, and its I/O was finished all the time."""
    assert [s.slug for s in detect_all(with_captures(name="slow-disk/1-writing")) if s.severity == "act"] == ["slow-disk"]


def test_it_explains_the_import_that_waits_for_it():
    failed = Capture("zpool_import", "", "failed", "", "zpool import: stuck after 60.0 s")
    found = detect_all(with_captures(failed, *silent("sde"), name="import-blocked-labels/1-labels-0-1-garbage"))
    assert [(s.slug, s.severity, bool(s.cause)) for s in found][:2] == [("disk-hangs", "act", False), ("import-blocked", "watch", True)]


def test_a_disk_that_only_the_log_knows_is_named_by_the_log():
    found = only(with_captures(log(GENUINE[: GENUINE.index("[  265.")]), disks=Unknown("lost")))
    assert found.title.startswith("sde (2:0:4:0)")
