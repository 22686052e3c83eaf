"""Condition, modes and phys of disks as facts: from the twin, from composed reports, and what is not said stays unknown."""

from pathlib import Path

import pytest

import agents.tests
from agents.collectors import COLLECTORS, sas_phys
from twin import demo
from twin.host import TwinHost
from workflows.facts import ConditionFacts, Growth, Unknown, known, node_facts
from workflows.facts.read.disk_condition import read_condition
from workflows.facts.read.disk_modes import read_modes
from workflows.facts.read.fabric import growth, owner_of
from workflows.facts.read.sources import Sources
from workflows.facts.tests.played import played

CAPTURES = Path(agents.tests.__file__).parent / "captures"
WWID = "naa:5000c500a670c5fb"


class Device:
    name, wwid, write_cache = "sdda", WWID, None


def body(text, outcome="data", reason=""):
    return {"outcome": outcome, "text": text, "reason": reason, "exit_code": "0", "stderr": ""}


def matches(source, pattern):
    (path,) = (CAPTURES / source).glob(pattern)
    return body(path.read_text())


SMART = matches("smart", "*failing-json.json")
LOGS = matches("sg_logs", "*failed-self-test.txt")


def condition(**sources) -> ConditionFacts:
    return read_condition(Sources({f"{name}/sdda": value for name, value in sources.items()}), [Device])


def test_what_sg_logs_counts_is_exact_and_comes_first():
    read, write, verify = condition(smart=SMART, sg_logs=LOGS).errors
    assert (read.what, read.processed_bytes, read.bytes_are_exact, read.uncorrected) == ("read", 650912300118016, True, 2)
    assert read.corrected_per_tib == pytest.approx(1120394896 * 2**40 / 650912300118016)
    assert (write.corrected, verify.corrected) == (3, 88012)


def test_smartctl_alone_is_rounded_and_says_so():
    read, write = condition(smart=SMART).errors
    assert (read.processed_bytes, read.bytes_are_exact) == (650912300000000, False)
    assert write.uncorrected == 0


def test_the_last_self_test_is_the_newest_that_ended():
    both = condition(smart=SMART, sg_logs=LOGS)
    assert (both.last_test.failed, both.last_test.hours) == (False, 41211)
    assert condition(smart=SMART).last_test.failed
    assert (both.non_medium, both.scan_findings, both.temperature, both.pending_defects) == (41, 1, 41, 3)


def test_text_says_less_and_nothing_is_made_of_its_silence():
    text = "smartctl 7.0 2018-12-30 r4883\n\nLogical Unit id:      0x5000c500a670c5fb\nSMART Health Status: OK\n"
    facts = condition(smart=body(text))
    assert not known(facts.self_tests)
    assert not known(facts.pending_defects)
    assert (facts.errors, facts.links) == ((), ())


@pytest.mark.parametrize(
    "smart",
    [
        None,
        body("", "nothing", "sdda sleeps and was not woken"),
        body("", "failed", "smartctl: timeout"),
        body("{"),
        body(SMART["text"].replace("c5fb", "c5ff")),
    ],
)
def test_a_report_that_is_not_there_or_about_another_disk_is_unknown(smart):
    facts = condition(**({} if smart is None else {"smart": smart}))
    assert isinstance(facts, Unknown)


class Other(Device):
    name = "sdfw"


def test_what_was_asked_through_another_path_is_of_the_same_disk():
    fields = {"smart/sdda": SMART, "smart/sdfw": SMART, "sg_logs/sdfw": LOGS}
    assert read_condition(Sources(fields), [Device, Other]).non_medium == 41
    elsewhere = fields | {"smart/sdfw": body(SMART["text"].replace("c5fb", "c5ff"))}
    assert not known(read_condition(Sources(elsewhere), [Device, Other]).non_medium)
    asleep = body("", "nothing", "sdfw sleeps and was not woken")
    assert (
        read_modes(Sources({"drive_modes/sdfw": asleep}), [Device, Other]).reason
        == "The node's SCSI mode pages of sdfw were not read: sdfw sleeps and was not woken."
    )


def modes(pattern):
    return read_modes(Sources({"drive_modes/sdda": matches("drive_modes", pattern)}), [Device])


def test_a_cache_the_kernel_does_not_know_of_is_never_flushed():
    well, bad = modes("*scan-on.txt"), modes("*behind-the-kernel.txt")
    assert (well.is_never_flushed, bad.is_never_flushed) == (False, True)
    assert (well.write_cache.words, bad.write_cache.words) == ("off", "on, off after a power cut")
    assert not known(bad.background_scan)


def phys(*counts):
    names = ("invalid_dword_count", "running_disparity_error_count", "loss_of_dword_sync_count", "phy_reset_problem_count")
    return sas_phys.parse("".join(f"phy-6:0:12/{name}:{count}\n" for name, count in zip(names, counts, strict=False)))


def test_growth_is_what_was_added():
    assert growth(phys(3120, 3007, 41, 0), (phys(20, 7, 40, 0), 3600.0)) == {"phy-6:0:12": Growth((3100, 3000, 1, 0), 3600.0)}


def test_a_counter_that_was_reset_counts_from_zero():
    assert growth(phys(5, 0, 0, 0), (phys(900, 0, 0, 0), 60.0))["phy-6:0:12"].counts == (5, 0, 0, 0)


@pytest.mark.parametrize("before", [Unknown("first report"), ((), 60.0), (phys(1, 2, 3), 60.0)])
def test_growth_is_unknown_without_a_whole_sample_before(before):
    assert not known(growth(phys(9, 9, 9, 9), before)["phy-6:0:12"])


@pytest.mark.parametrize(("phy", "owner"), [("phy-6:3", "host6"), ("phy-6:0:12", "expander-6:0")])
def test_a_phy_names_its_owner(phy, owner):
    assert owner_of(phy) == owner


def test_genuine_phys_have_no_far_end_without_their_ports():
    """The lab's captures hold phys and end devices, not ports."""
    fabric = played("healthy-raidz2").fabric
    assert {(phy.owner, phy.far, phy.counts, phy.gbit) for phy in fabric.phys} == {("host2", None, (0, 0, 0, 0), 3.0)}


def test_on_the_demo_every_disk_is_at_the_end_of_a_phy(tmp_path):
    demo.make(tmp_path)
    host = TwinHost(demo.state_path(tmp_path, "oss01"))
    taken = [capture for collector in COLLECTORS.values() for capture in collector.collect(host)]
    facts = node_facts("oss01", {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}, 1.0, ())
    ends = {phy.wwid: phy for phy in facts.fabric.phys if phy.wwid}
    assert set(ends) == {d.wwid for d in facts.disks if d.model != "INTEL SSDSC2KB24"}
    sdcw = ends["naa:5000cca273a7d9e8"]
    assert (sdcw.owner, sdcw.lanes, sdcw.place, sdcw.gbit) == ("expander-6:0", 1, "bay 68 of 0x50050cc11ac016e2", 12.0)
    assert all(known(d.condition) and known(d.modes) for d in facts.disks if d.wwid in ends)
