"""What is to be started after an import, from what is reported of the datasets: one line for each kind, and none for what is not there."""

from __future__ import annotations

from types import SimpleNamespace

from agents.collectors.zfs_get import Datasets
from workflows.analysis import starting
from workflows.facts import Unknown

PLAIN = {"type": "filesystem", "canmount": "on", "mountpoint": "/x", "mounted": "no", "sharenfs": "off", "sharesmb": "off"}


def of(values, cachefile="-", left_out=0):
    datasets = Datasets(values, left_out) if isinstance(values, dict) else values
    return starting.lines(SimpleNamespace(name="tank", datasets=datasets, properties={"cachefile": cachefile}))


def test_each_kind_has_its_line_in_the_order_in_which_it_works():
    found = of(
        {
            "tank": {**PLAIN, "keystatus": "unavailable", "encryptionroot": "tank", "keylocation": "prompt"},
            "tank/child": {**PLAIN, "keystatus": "unavailable", "encryptionroot": "tank"},
            "tank/nfs": {**PLAIN, "mounted": "yes", "sharenfs": "rw=@10.0.0.0/8"},
            "tank/old": {**PLAIN, "mountpoint": "legacy"},
            "tank/ost0": {**PLAIN, "canmount": "off", "mountpoint": "legacy", "lustre:svname": "demo-OST0000"},
            "tank/vm": {"type": "volume"},
        }
    )
    assert [line.split(":")[0] for line in found] == [
        *("Keys", "Mounts", "Legacy mounts", "Shares", "Volumes", "Lustre targets", "At the next boot"),
    ]
    assert "tank (key at prompt). On the node: `zfs load-key tank`." in found[0]
    assert "tank, tank/child" in found[1]
    assert found[2].endswith("mounts tank/old.")
    assert "demo-OST0000 (tank/ost0)" in found[5]
    assert "never with `zfs mount`" in found[5]


def test_what_is_not_there_has_no_line():
    assert [line.split(":")[0] for line in of({"tank": {**PLAIN, "mounted": "yes"}})] == ["At the next boot"]


def test_many_are_counted():
    (mounts, _) = of({f"tank/{number}": PLAIN for number in range(9)})
    assert "and 3 more" in mounts
    assert "`zfs mount NAME`" in mounts


def test_what_is_not_known_is_a_line_with_where_to_look():
    found = of(Unknown("It was not read."))
    assert found[0].startswith("Not known: ")
    assert "zfs get -r" in found[0]
    assert any("5 more rows" in line for line in of({"tank": PLAIN}, left_out=5))


def test_a_pool_in_no_cache_file_does_not_come_in_by_itself():
    assert "does not come in by itself" in of({"tank": PLAIN}, cachefile="none")[-1]
    assert "from /etc/zfs/ha.cache" in of({"tank": PLAIN}, cachefile="/etc/zfs/ha.cache")[-1]
