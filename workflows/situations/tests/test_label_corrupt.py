"""label-corrupt over every genuine step: which disk, how urgent, and silence everywhere else."""

from dataclasses import replace

import pytest

from agents.collectors.base import Capture
from workflows.facts import FleetFacts, node_facts
from workflows.facts.tests.played import captures, fleet
from workflows.situations import label_corrupt

TRUTH = {  # step -> (severity, damage, WWID); from its COMMANDS.md
    "disk-removed/1-pulled-not-noticed": ("watch", "unread", "naa:5000c500a65b202b"),
    "import-blocked-labels/1-labels-0-1-garbage": ("watch", "few", "naa:5000c500a65b201b"),
    "import-blocked-labels/2-all-labels-garbage": ("act", "gone", "naa:5000c500a65b201b"),
    "import-blocked-labels/3-other-pool-label": ("act", "other", "naa:5000c500a65b201b"),
}


@pytest.mark.parametrize("name", TRUTH)
def test_it_names_the_disk_and_the_damage(name):
    found = [(s.severity, s.subject["damage"], s.subject["wwid"]) for s in label_corrupt.detect(fleet(name))]
    assert found == [TRUTH[name]]


def only(facts):
    (found,) = label_corrupt.detect(facts)
    return found


def test_it_shows_what_import_says_of_the_member():
    found = only(fleet("import-blocked-labels/2-all-labels-garbage"))
    assert [(e.source, e.line) for e in found.evidence][-1] == ("zpool_import", "wwn-0x5000c500a65b201b  UNAVAIL  invalid label")
    assert all(e.digest for e in found.evidence)
    assert "Do not take it for a blank disk." in found.meaning
    assert found.subject["vdev_guid"] == "4608260843788608505"


def test_it_names_whose_label_the_disk_carries():
    found = only(fleet("import-blocked-labels/3-other-pool-label"))
    assert "oldpool" in found.meaning
    assert any("oldpool: guid 7824811406328098609" in e.line for e in found.evidence)


def test_a_member_in_service_without_a_label_is_acted_upon():
    gone = "".join(f"failed to unpack label {n}\n" for n in range(4))
    node = node_facts("oss01", captures("healthy-raidz2") | {"zdb_label/sda1": Capture("zdb_label", "sda1", "data", gone)}, 1.0, ())
    found = only(FleetFacts({"oss01": node}))
    assert (found.severity, "the next import will not find it" in found.meaning) == ("act", True)
    again = found.cures[-1]
    assert again.argv == (("zpool", "set", "comment=labels-rewritten", node.pools[0].name),)
    assert ("found" in again.needs, "get comment" in again.save_first) == (True, True), (
        "the labels are written again only when what overwrote them is stopped"
    )
    lost = replace(node.pools[0].tops[0][1].children[0], state="FAULTED")
    top = replace(node.pools[0].tops[0][1], children=(lost, *node.pools[0].tops[0][1].children[1:]))
    pool = replace(node.pools[0], tops=(("data", top),))
    assert only(FleetFacts({"oss01": replace(node, pools=(pool,))})).severity == "watch", "its loss is said by another situation"


def test_a_disk_without_a_label_of_a_pool_that_is_not_imported_is_filled_anew_and_only_when_it_is_certain_which_it_is():
    found = only(fleet("import-blocked-labels/2-all-labels-garbage"))
    last = found.cures[-1]
    assert (last.kind, last.runbook, "certain" in last.needs) == ("replace", "wwid-mismatch-replace", True)


def test_its_key_does_not_change_with_the_kernel_name():
    found = only(fleet("import-blocked-labels/2-all-labels-garbage"))
    assert found.key == "label-corrupt:gone:naa:5000c500a65b201b"
