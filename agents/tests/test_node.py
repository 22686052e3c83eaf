import pytest

from agents.collectors import node
from agents.collectors.base import Unparsed
from agents.collectors.node import NodeInfo, parse, version
from agents.tests.scenarios import step
from twin import scenarios
from twin.captured_host import CapturedHost


def info(name: str) -> NodeInfo:
    (capture,) = node.collect(CapturedHost(step(name)))
    return parse(capture.text)


def test_it_reads_who_the_node_is():
    assert info("wwid-drift/1-before") == NodeInfo(
        "oss01", "5b2f9c01", None, "6.1.0-50-amd64", "2.1.11-1+deb12u1", "2.1.11-1+deb12u1", None, "00000000"
    )
    assert info("other-host/2-refused").hostid == "5b2f9c02"
    assert info("healthy-mixed-zfs2.3").zfs_userland == "2.3.2-2~bpo12+2"


def test_tools_and_module_may_differ():
    read = parse("/sys/module/zfs/version:2.1.11-1\nzpool --version:zfs-2.3.2-1\nzpool --version:zfs-kmod-2.1.11-1\n")
    assert (read.zfs_userland, read.zfs_module) == ("2.3.2-1", "2.1.11-1")


def test_a_short_hostid_is_the_same_hostid():
    assert parse("hostid:abcdef\n").hostid == "00abcdef"


def test_it_reads_the_hostid_wherever_it_stands():
    """Composed: the file has its four bytes in the order of the machine, the parameter is decimal."""
    read = parse("hostid:5b2f9c01\n/etc/hostid:019c2f5b\n/sys/module/spl/parameters/spl_hostid:1529846785\n/proc/stat:btime 1795248425\n")
    assert (read.hostid, read.hostid_file, read.hostid_spl, read.booted_at) == ("5b2f9c01", "5b2f9c01", "5b2f9c01", 1795248425)


@pytest.mark.parametrize("line", ["/etc/hostid:019c2f", "/proc/stat:btime 17", "/sys/module/spl/parameters/spl_hostid:1e3"])
def test_it_refuses_half_a_number(line):
    assert isinstance(parse(f"{line}\n"), Unparsed)


@pytest.mark.parametrize("text", ["", "hostid:xyz\n", "hostname:oss01\n", "hostid:123456789\n"])
def test_it_refuses_what_it_does_not_know(text):
    assert isinstance(parse(text), Unparsed)


@pytest.mark.parametrize(
    ("text", "number"), [("2.1.11-1+deb12u1", (2, 1)), ("v0.8.3-1ubuntu12", (0, 8)), ("2.10.0", (2, 10)), ("git", None), (None, None)]
)
def test_it_compares_versions_by_their_numbers(text, number):
    assert version(text) == number


def test_a_script_for_new_disks_and_a_variable_for_slots_are_seen_where_the_site_has_them(tmp_path):
    host = scenarios.host(tmp_path, scenarios.tiny(), scenarios.Clock())
    (bare,) = node.collect(host)
    assert (parse(bare.text).prepares, parse(bare.text).powers) == (None, None)

    class Site:
        files = {
            "/usr/libexec/zfs/zfs_prepare_disk": "#!/bin/sh\n",
            "/etc/default/zfs": "# ZPOOL_AUTO_POWER_ON_SLOT=1\n",
            "/etc/environment": "A=1\nexport ZPOOL_AUTO_POWER_ON_SLOT=1\n",
        }

        def __getattr__(self, name):
            return getattr(host, name)

        def list(self, pattern):
            return tuple(path for path in self.files if path == pattern) or host.list(pattern)

        def read(self, path):
            return self.files[path].encode() if path in self.files else host.read(path)

    (capture,) = node.collect(Site())
    assert (parse(capture.text).prepares, parse(capture.text).powers) == ("/usr/libexec/zfs/zfs_prepare_disk", "/etc/environment")
    assert isinstance(parse(f"{capture.text}zfs_prepare_disk:\n"), Unparsed)
