import pytest

from agents.collectors import mounts
from agents.collectors.base import Unparsed
from agents.collectors.mounts import parse
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost


def test_it_reads_what_is_mounted():
    (capture,) = mounts.collect(CapturedHost(step("wwid-drift/1-before")))
    read = parse(capture.text)
    assert ("/dev/vda", "/", "ext4") in read.mounts
    assert ("ost_1/data", "/ost_1/data", "zfs") in read.mounts


class Hidden(CapturedHost):
    """A node whose agent is kept from /home by its unit, while somebody has mounted a disk there."""

    def read(self, path: str) -> bytes:
        if path == "/proc/1/mounts":
            return b"/dev/vda / ext4 rw 0 0\n/dev/sdh /home/old ext4 rw 0 0\n"
        return super().read(path)


def test_it_sees_what_the_units_own_view_hides():
    (capture,) = mounts.collect(Hidden(step("wwid-drift/1-before")))
    assert ("/dev/sdh", "/home/old", "ext4") in parse(capture.text).mounts


def test_swap_that_was_not_read_is_not_known():
    assert parse("/proc/mounts:/dev/sda1 / ext4 rw 0 0\n").swaps is None


def test_it_reads_swap_and_odd_names():
    """Made up from the kernel's format: blanks are octal."""
    read = parse(
        "/proc/mounts:/dev/sdb1 /mnt/with\\040space ext4 rw 0 0\n"
        "/proc/swaps:Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
        "/proc/swaps:/dev/sda3                               partition\t8388604\t\t0\t\t-2\n"
    )
    assert (read.mounts[0][1], read.swaps) == ("/mnt/with space", ("/dev/sda3",))


def test_no_swap_is_an_answer():
    assert parse("/proc/mounts:/dev/sda1 / ext4 rw 0 0\n/proc/swaps:Filename Type Size Used Priority\n").swaps == ()


@pytest.mark.parametrize(
    "text", ["", "/dev/sda1 / ext4 rw 0 0\n", "/proc/mounts:/dev/sda1 /\n", "/proc/swaps:/dev/sda3 partition 1 0 -2\n"]
)
def test_it_refuses_what_it_does_not_know(text):
    assert isinstance(parse(text), Unparsed)
