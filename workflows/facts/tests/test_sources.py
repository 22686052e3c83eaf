"""What a source said before, for what grows; and what need not be joined again."""

import random

from agents.collectors import block, node
from agents.collectors import mounts as mounts_source
from agents.collectors.base import Capture
from agents.tests.scenarios import STEPS
from workflows.facts import known, node_facts
from workflows.facts.read.sources import Sources
from workflows.facts.tests.played import captures


def body(outcome="data", text="a", reason=""):
    return {"outcome": outcome, "text": text, "reason": reason, "exit_code": None, "stderr": ""}


def test_it_gives_the_earlier_value_and_how_long_before():
    nodes = [body(text=f"hostid:{n}\n") for n in (1, 2)]
    sources = Sources({"node": nodes[1]}, {"node": (nodes[0], 600.0)})
    assert sources.earlier(node) == (Sources({"node": nodes[0]}).read(node), 600.0)


def test_what_was_not_kept_or_not_said_before_is_not_known():
    sources = Sources({"node": body()}, {"block": (body("failed", "", "timeout"), 60.0)})
    assert not known(sources.earlier(node))
    assert "list of block devices was not read: timeout" in sources.earlier(block).reason


def test_a_failure_is_told_in_the_tools_own_words():
    """Genuine, from a node without the kernel module; its sentence ends with a full stop of its own."""
    text = "The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them.\n"
    failed = body("failed", "", "zpool status -P -p exited 1") | {"stderr": text}
    why = Sources({"zpool_status": failed}).pools("zpool_status").reason
    assert why == "The node's zpool status was not read: zpool status -P -p exited 1: The ZFS modules are not loaded."


def test_it_takes_digests_that_are_known_already():
    assert node_facts("n", {"node": body()}, 0.0, (), digests={"node": "d"}).digests == {"node": "d"}


def test_what_was_remembered_makes_no_difference():
    """One node whose reports come in any order: its memory gives what reading everything again gives."""
    rng, memory = random.Random(7), {}
    for name in [rng.choice(STEPS) for _ in range(60)]:
        collected = captures(name)
        digests = {where: capture.digest for where, capture in collected.items()}
        assert node_facts("oss01", collected, 1.0, (), digests=digests, memory=memory) == node_facts(
            "oss01", collected, 1.0, (), digests=digests
        )


def test_what_is_read_in_vain_is_asked_again():
    memory, asked = {}, []

    def sources(**texts):
        values = {name: Capture(name, "", "data", text) for name, text in texts.items()}
        return Sources(values, digests={name: capture.digest for name, capture in values.items()}, memory=memory)

    def work(of):
        asked.append(1)
        return of.once("outer", lambda: ("not read" not in str(of.read(mounts_source)), of.keys("smart")))

    mounts = {"mounts": "sysfs /sys sysfs rw 0 0\n"}
    for texts in ({}, {}, mounts, {**mounts, "lsscsi": ""}):
        of = sources(**texts)
        assert of.once("all", lambda of=of: work(of)) == ("mounts" in texts, ())
    assert len(asked) == 2


def test_a_list_of_hosts_is_no_list_of_enclosures():
    """`lsscsi -H` beside the kernel's enclosures: no host has a model."""
    shelf = "/sys/class/enclosure:0:0:3:0\n/sys/class/enclosure/0:0:3:0/id:0x50050cc11ac016e2\n/sys/class/enclosure/0:0:3:0/1/slot:1\n"
    facts = node_facts("n", {"enclosure": body(text=shelf), "lsscsi": body(text="[0]    mpt3sas   \n[1]    ahci      \n")}, 0.0, ())
    assert known(facts.bays)
    assert [bay.model for bay in facts.bays] == [""]


def test_an_enclosure_without_an_id_has_no_bays_that_an_order_could_name():
    facts = node_facts("n", {"enclosure": body(text="/sys/class/enclosure:0:0:3:0\n/sys/class/enclosure/0:0:3:0/1/slot:1\n")}, 0.0, ())
    assert facts.bays == ()
