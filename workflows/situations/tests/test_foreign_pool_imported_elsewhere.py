"""foreign-pool-imported-elsewhere over every genuine step, and with the node beside it that has the pool."""

from dataclasses import replace

import pytest

from workflows.facts import FleetFacts, Unknown
from workflows.facts.tests.played import fleet, played
from workflows.situations import foreign_pool_imported_elsewhere as foreign

ON, OFF, MMP = "9404896043686769858", "10694689121425967020", "3838031771893537920"
TRUTH = {  # step -> (severity, pool guid, sure)
    "active-on-other-host": {("watch", MMP, True)},
    "other-host/1-last-used-by-oss01": {("watch", ON, False), ("watch", OFF, False)},
}
AFTER, BEFORE = "other-host/3-forced", "other-host/1-last-used-by-oss01"


def of(*nodes):
    return foreign.detect(FleetFacts({n.node: n for n in nodes}))


@pytest.mark.parametrize("name", TRUTH)
def test_it_names_the_pools_and_how_sure_it_is(name):
    assert {(s.severity, s.subject["pool_guid"], s.sure) for s in foreign.detect(fleet(name))} == TRUTH[name]


def test_a_pool_that_another_host_writes_now_is_never_to_be_imported():
    (found,) = foreign.detect(fleet("active-on-other-host"))
    assert "oss09 (hostid abcdef) has imported right now" in found.title
    assert "Importing it here, -f included, would destroy it." in found.meaning
    assert "read-only" not in found.meaning
    assert found.answers == ()
    assert all(e.digest for e in found.evidence)


def test_a_pool_of_a_host_that_may_be_dead_asks_for_proof_first():
    found = next(s for s in foreign.detect(fleet(BEFORE)) if s.subject["pool_guid"] == OFF)
    assert "oss01 (hostid 5b2f9c01) used last and never exported" in found.title
    assert "Prove first that this host is off" in found.meaning
    assert "readonly=on" in found.meaning
    assert [(a.runbook, a.params["pool_guid"], a.params["node"]) for a in found.answers] == [("read-only-import", OFF, found.node)]


HOLDER, PARTNER = replace(played(AFTER), node="oss02"), replace(played(BEFORE), node="oss03")


def test_a_partner_without_multihost_is_watched_and_told_so():
    found = of(HOLDER, PARTNER)
    assert {(s.node, s.severity, s.subject["other_host"]) for s in found} == {("oss03", "watch", "oss02")}
    assert "multihost is off" in found[0].meaning
    assert found[0].answers == ()
    assert {e.node for e in found[0].evidence} == {"oss02", "oss03"}


def test_a_partner_that_multihost_keeps_out_is_as_it_should_be():
    text = "The pool must be exported from oss02 (hostid=5b2f9c02)\nbefore it can be safely imported."
    listed = tuple(replace(p, state="UNAVAIL", action=text) for p in PARTNER.importable)
    assert {s.severity for s in of(HOLDER, replace(PARTNER, importable=listed))} == {"info"}
    assert {s.severity for s in of(replace(HOLDER, age_seconds=600.0), replace(PARTNER, importable=listed))} == {"watch"}


def test_a_partner_that_only_reads_the_labels_is_as_it_should_be():
    found = of(HOLDER, replace(PARTNER, importable=()))
    assert {(s.severity, "must not import it" in s.meaning) for s in found} == {("info", True)}


def test_one_pool_on_two_nodes_at_once_is_an_emergency():
    found = of(HOLDER, replace(HOLDER, node="oss03"))
    assert {(s.severity, s.key) for s in found} == {
        ("act", f"foreign-pool-imported-elsewhere:twice:{ON}"),
        ("act", f"foreign-pool-imported-elsewhere:twice:{OFF}"),
    }


def test_one_that_had_it_when_it_reported_last_is_not_called_a_second_host():
    """After a takeover the dead head's last report has the pool too."""
    (found,) = [s for s in of(HOLDER, replace(HOLDER, node="oss03", age_seconds=600.0)) if s.subject["pool_guid"] == ON]
    assert (found.severity, found.sure, found.node) == ("act", False, HOLDER.node)
    assert "oss03 had it when it reported last" in found.title
    assert "oss03 last reported 600 s ago" in found.meaning


def test_a_holder_whose_list_of_pools_is_not_whole_counts_with_those_that_were_read():
    in_part = replace(HOLDER, pools=Unknown("A line of zpool status was not understood."), partial_pools=HOLDER.pools)
    assert {s.key for s in of(in_part, replace(in_part, node="oss03"))} == {f"{foreign.SLUG}:twice:{ON}", f"{foreign.SLUG}:twice:{OFF}"}
    assert {(s.node, s.subject["other_host"]) for s in of(in_part, PARTNER)} == {("oss03", "oss02")}


def test_a_node_that_does_not_know_its_own_pools_calls_no_label_foreign():
    assert of(HOLDER, replace(PARTNER, pools=Unknown("zpool_status: timeout."), importable=Unknown("not collected."))) == ()


def test_remains_that_cannot_be_imported_are_told_quietly():
    gone = tuple(replace(p, state="UNAVAIL") for p in PARTNER.importable)
    assert {s.severity for s in of(replace(PARTNER, importable=gone))} == {"info"}


def test_of_two_that_have_it_one_is_switched_off_first_and_nothing_is_written():
    (found,) = [s for s in of(played(AFTER), replace(played(AFTER), node="oss02")) if s.subject["pool_guid"] == ON]
    assert (found.severity, found.cures[0].kind, found.cures[0].argv) == ("act", "other", ())
    assert "Switch one of oss01 and oss02 off now" in found.cures[0].text


def test_what_another_host_has_is_imported_by_no_advice():
    seen = [one for name in TRUTH for one in foreign.detect(fleet(name))]
    held = [one for one in seen if one.sure]
    assert held
    for one in held:
        assert one.cures[0].kind == "wait"
        assert not [argv for cure in one.cures for argv in cure.argv if "import" in argv]
    for one in seen:
        for argv in (argv for cure in one.cures for argv in cure.argv if "import" in argv):
            assert "readonly=on" in argv
            assert "-f" not in argv


@pytest.mark.parametrize(("hostname", "own"), [("oss01", True), ("oss03", False), (Unknown("It was not read."), False)])
def test_a_host_of_its_own_name_under_another_hostid_gets_its_hostid_back_before_anything_is_forced(hostname, own):
    here = replace(PARTNER, hostname=hostname)
    found = next(s for s in of(here) if s.subject["pool_guid"] == OFF)
    assert ("the hostid of oss03 changed" in found.meaning) is own
    assert (found.cures[0].kind == "zgenhostid") is own
    if own:
        assert found.cures[0].argv == (("zgenhostid", "-f", "5b2f9c01"),)
        assert (found.cures[0].runbook, "No other host is named oss01" in found.cures[0].needs) == ("import-pool", True)


def test_a_pool_that_another_node_has_is_never_taken_for_its_own():
    (found,) = of(HOLDER, replace(PARTNER, hostname="oss01"))[:1]
    assert "zgenhostid" not in {cure.kind for cure in found.cures}
