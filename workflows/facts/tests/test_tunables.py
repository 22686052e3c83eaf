"""What the next boot makes of each parameter; on every genuine node all but two are what their release has by default."""

import pytest

from agents.collectors.base import Capture
from agents.collectors.parameters import NAMES
from agents.tests.scenarios import STEPS
from workflows.facts import known, node_facts
from workflows.facts.read.tunables import DEFAULTS
from workflows.facts.tests.played import played

RAISED = {"scrub-states/01-scrub-started": {"zfs_scan_suspend_progress"}, "slow-disk/1-writing": {"zio_slow_io_ms"}}
VALUES = "/sys/module/zfs/parameters"


def tunables(text: str, module: str = "2.1.11-1"):
    fields = {
        "parameters": Capture("parameters", "", "data", text),
        "node": Capture("node", "", "data", f"/sys/module/zfs/version:{module}\n"),
    }
    return node_facts("oss01", fields, 1.0, ()).tunables


def test_every_parameter_we_ask_for_has_its_defaults():
    assert set(DEFAULTS) == set(NAMES)


def test_genuine_values_are_the_defaults_of_their_release():
    recorded = {name: tunables.known_names for name in STEPS if known(tunables := played(name).tunables)}
    assert len(recorded) == 21
    for name, found in recorded.items():
        assert len(found) > 25, name
        assert {t.name for t in found if t.differs} == RAISED.get(name, set()), name


@pytest.mark.parametrize(
    ("module", "value", "differs"),
    [("0.7.13-1", "5", False), ("0.7.13-1", "10", True), ("0.8.0-1", "10", False), ("2.4.0-1", "10", False), ("2.1.11-1", "0", True)],
)
def test_a_default_is_that_of_the_release(module, value, differs):
    (tunable,) = tunables(f"{VALUES}/zfs_multihost_fail_intervals:{value}\n", module).known_names
    assert tunable.differs is differs


@pytest.mark.parametrize(("boot", "differs"), [("20", False), ("0x14", False), ("024", False), ("30", True), ("", True)])
def test_what_is_set_for_the_next_boot_outranks_the_default(boot, differs):
    text = f"{VALUES}/zfs_multihost_fail_intervals:20\n/etc/modprobe.d/zfs.conf:options zfs zfs_multihost_fail_intervals={boot}\n"
    (tunable,) = tunables(text).known_names
    assert tunable.differs is differs
    assert "/etc/modprobe.d/zfs.conf" in tunable.at_boot


def test_a_setting_that_this_release_ignores_is_told():
    text = f"{VALUES}/zio_slow_io_ms:30000\n/etc/modprobe.d/zfs.conf:options zfs zfs_top_maxinflight=128\n"
    assert [option.name for option in tunables(text).ignored] == ["zfs_top_maxinflight"]


def test_of_a_release_that_nobody_named_it_is_not_said_what_it_lacks():
    text = f"{VALUES}/zio_slow_io_ms:30000\n/etc/modprobe.d/zfs.conf:options zfs zfs_top_maxinflight=128\n"
    fields = {"parameters": Capture("parameters", "", "data", text)}
    assert node_facts("oss01", fields, 1.0, ()).tunables.ignored == ()


def test_without_a_version_a_default_is_known_only_where_all_releases_agree():
    fields = {"parameters": Capture("parameters", "", "data", f"{VALUES}/zfs_scrub_delay:0\n")}
    (tunable,) = node_facts("oss01", fields, 1.0, ()).tunables.known_names
    assert tunable.differs is True
    fields = {"parameters": Capture("parameters", "", "data", f"{VALUES}/zfs_multihost_fail_intervals:2\n")}
    (tunable,) = node_facts("oss01", fields, 1.0, ()).tunables.known_names
    assert not known(tunable.differs)
    assert tunable.at_boot == "not known"


def test_on_freebsd_what_sets_it_at_boot_is_not_read_and_nothing_is_claimed():
    """/etc/sysctl.conf may set it just so."""
    fields = {"sysctl": Capture("sysctl", "", "data", "vfs.zfs.scrub_delay: 0\n")}
    (tunable,) = node_facts("nas01", fields, 1.0, ()).tunables.known_names
    assert (tunable.differs, tunable.at_boot) == (True, "not known")
    assert tunable.later == "its default is 4"
