"""The state of a path is the daemon's where it answers, and else the kernel's."""

import re

import pytest

from agents.collectors import multipath
from agents.domain.multipath_maps import paths_down, paths_up
from agents.host.host import Ran

FILES = {
    "/sys/block/dm-3/dm/uuid": "mpath-35000c500a65b207b\n",
    "/sys/block/dm-3/dm/name": "mpatha\n",
    "/sys/block/sda/dev": "8:0\n",
    "/sys/block/sdq/dev": "65:0\n",
}
FOLDERS = {
    "/sys/block": ("/sys/block",),
    "/sys/block/dm-*": ("/sys/block/dm-3",),
    "/sys/block/dm-3/slaves": ("/sys/block/dm-3/slaves",),
    "/sys/block/dm-3/slaves/*": ("/sys/block/dm-3/slaves/sda", "/sys/block/dm-3/slaves/sdq"),
}
DAEMON = "sda|35000c500a65b207b|active|ready\nsdq|35000c500a65b207b|failed|faulty\n"
KERNEL = "mpatha: 0 1048576 multipath 2 0 0 0 2 1 A 0 1 2 8:0 F 2 0 1 E 0 1 2 65:0 A 0 0 1 \n"


class Node:
    """One map of two paths, and what its tools print."""

    def __init__(self, **prints: str) -> None:
        self.prints, self.ran = prints, []

    def list(self, pattern: str) -> tuple[str, ...]:
        return FOLDERS.get(pattern, ())

    def read(self, path: str) -> bytes:
        if path not in FILES:
            raise FileNotFoundError(path)
        return FILES[path].encode()

    def run(self, argv, timeout_seconds) -> Ran:
        self.ran.append(argv[0])
        text = self.prints.get(argv[0])
        return Ran(tuple(argv), 1 if text is None else 0, (text or "").encode(), b"", 0.0, "")


def the_map(node: Node) -> multipath.MultipathMap:
    (capture,) = multipath.collect(node)
    (one,) = multipath.parse(capture.text)
    return one


def test_the_daemon_is_believed_where_it_answers_and_the_kernel_is_not_asked():
    node = Node(multipathd=DAEMON, dmsetup=KERNEL)
    one = the_map(node)
    assert (paths_up(one), paths_down(one)) == (("sda",), ("sdq",))
    assert "dmsetup" not in node.ran


def test_the_kernel_is_asked_where_the_daemon_cannot_be_reached():
    one = the_map(Node(dmsetup=KERNEL))
    assert (paths_up(one), paths_down(one)) == (("sdq",), ("sda",))


def test_where_neither_answers_no_path_is_up_or_down():
    one = the_map(Node())
    assert (paths_up(one), paths_down(one)) == ((), ())


@pytest.mark.parametrize("status", [KERNEL.replace("65:0 A", "8:32 A"), KERNEL.replace("65:0 A 0", "65:0 X 0")])
def test_a_path_that_the_kernel_does_not_tell_of_is_not_known(status):
    one = the_map(Node(dmsetup=status))
    assert (paths_up(one), paths_down(one)) == ((), ("sda",))


def test_queue_and_service_time_selectors_print_other_numbers_behind_each_path():
    status = re.sub(r"(F 2|A 0) 0 1", r"\1 0", KERNEL)
    one = the_map(Node(dmsetup=status))
    assert (paths_up(one), paths_down(one)) == (("sdq",), ("sda",))
