import pytest

from agents.collectors import enclosure
from agents.collectors.base import Unparsed
from agents.collectors.enclosure import Enclosure, parse
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost


def only(name: str) -> Enclosure:
    (capture,) = enclosure.collect(CapturedHost(step(name)))
    (read,) = parse(capture.text)
    return read


def test_it_reads_every_slot_in_order():
    read = only("enclosure-slots/1-all-slots")
    assert (read.name, read.id, len(read.slots)) == ("0:0:24:0", "0x500605b0000272bf", 12)
    assert [slot.number for slot in read.slots] == list(range(1, 13))
    assert [slot.device for slot in read.slots] == [f"sd{c}" for c in "abcdefghij"] + [None, None]
    assert [slot.status for slot in read.slots[9:]] == ["OK", "not installed", "not installed"]
    assert (read.slots[0].locate, read.slots[0].fault, read.slots[0].power) == (False, False, "on")


def test_it_reads_a_lit_bay_and_a_pulled_disk():
    read = only("enclosure-slots/3-pulled")
    assert [slot.number for slot in read.slots if slot.locate] == [4]
    assert (read.slots[6].status, read.slots[6].device) == ("not installed", None)


def test_a_new_disk_is_linked_again():
    assert only("enclosure-slots/4-new-disk").slots[6].device == "sdg"


def test_no_driver_and_no_enclosure_are_different_answers():
    (capture,) = enclosure.collect(CapturedHost(step("healthy-raidz2")))
    assert capture.outcome == "nothing"
    assert parse("/sys/class/enclosure:\n") == ()


MADE_UP = """\
/sys/class/enclosure:6:0:89:0 17:0:88:0
/sys/class/enclosure/6:0:89:0/id:0x50050cc11ac016e2
/sys/class/enclosure/6:0:89:0/SLOT 68/slot:68
/sys/class/enclosure/6:0:89:0/SLOT 68/status:critical
/sys/class/enclosure/6:0:89:0/SLOT 68/fault:2
/sys/class/enclosure/6:0:89:0/SLOT 68/device/block:sdcw
"""


def test_names_may_hold_blanks_and_silence_is_not_off():
    first, second = parse(MADE_UP)
    (slot,) = first.slots
    assert (slot.name, slot.number, slot.status, slot.fault, slot.locate, slot.device) == ("SLOT 68", 68, "critical", True, None, "sdcw")
    assert (second.name, second.id, second.slots) == ("17:0:88:0", None, ())


@pytest.mark.parametrize("line", ["/sys/class/enclosure/9:0:0:0/id:1", "/sys/class/enclosure/6:0:89:0/SLOT 68/colour:red", "junk"])
def test_a_line_it_does_not_know_is_refused(line):
    assert isinstance(parse(MADE_UP + line + "\n"), Unparsed)


class SlowExpander(CapturedHost):
    clock = 0.0

    def read(self, path):
        self.clock += 30.0 if path.endswith("/status") else 0.0
        return super().read(path)

    def now(self):
        return self.clock


def test_a_sick_expander_is_not_waited_for_without_end():
    (capture,) = enclosure.collect(SlowExpander(step("enclosure-slots/1-all-slots")))
    assert capture.outcome == "failed"
    assert "stopped before Slot03" in capture.reason
    assert "Slot02/status:OK" in capture.text
