"""Links that count errors. The lab's phys never counted one, so no genuine step may show it; the sick ones are put together by us."""

from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from agents.tests.scenarios import STEPS
from twin import demo
from twin.scenarios import Clock
from twin.scenarios import host as twin
from workflows.facts import FabricFacts, FleetFacts, Growth, PhyFacts, Unknown, node_facts
from workflows.facts.tests.played import fleet as genuine
from workflows.situations import detect_all, phy_errors
from workflows.tests.incident import BLANK_WWID, NODE, fleet

HOUR = 3600.0
STILL = Growth((0, 0, 0, 0), HOUR)
MODELS = {"host6": "mpt3sas", "expander-6:0": "SEAGATE EXOS-E 5U84 6020"}


@pytest.mark.parametrize("name", STEPS)
def test_no_genuine_step_shows_it(name):
    assert phy_errors.detect(genuine(name)) == ()


def phy(number, *counts, seconds=HOUR, wwid=None, **more):
    rise = Growth(counts, seconds) if counts else STILL
    place = "bay 70 of 0x50050cc11ac016e2" if wwid else ""
    one = PhyFacts(
        f"phy-6:0:{number}",
        "expander-6:0",
        f"port-6:0:{number}",
        1,
        f"end_device-6:0:{number}",
        wwid,
        place,
        (0, 0, 0, 0),
        "12.0 Gbit",
        12.0,
        rise,
    )
    return replace(one, **more)


def lane(number, *counts):
    """One of four lanes from the HBA to the expander."""
    rise = Growth(counts, HOUR) if counts else STILL
    return PhyFacts(f"phy-6:{number}", "host6", "port-6:0", 4, "expander-6:0", None, "", (4, 4, 4, 4), "12.0 Gbit", 12.0, rise)


def detect(*phys):
    return phy_errors.detect(fleet(replace(NODE, fabric=FabricFacts(phys, MODELS, {}))))


def test_the_weakest_link_is_named_with_both_ends_and_the_bay():
    (found,) = detect(phy(70, 3100, 3000, 41, 0, wwid=BLANK_WWID), phy(71))
    assert (found.severity, found.subject["wwid"], found.subject["phy"]) == ("act", BLANK_WWID, "phy-6:0:70")
    assert found.title == (
        f"The link expander-6:0 (SEAGATE EXOS-E 5U84 6020) to sdcx ({BLANK_WWID}), bay 70 of 0x50050cc11ac016e2 counts errors"
    )
    assert "3100 invalid dwords, 3000 disparity errors, 41 losses of sync in 60 minutes" in found.meaning
    assert "another bay" in found.meaning


@pytest.mark.parametrize(
    ("counts", "seconds", "severity"),
    [
        ((9, 0, 0, 0), HOUR, None),
        ((12, 0, 0, 0), HOUR, "watch"),
        ((9, 0, 0, 0), 600.0, "watch"),
        ((0, 0, 4, 0), HOUR, None),
        ((0, 0, 0, 1), HOUR, "watch"),
        ((2000, 0, 0, 0), HOUR, "act"),
    ],
)
def test_noise_is_no_situation_and_a_flood_is_urgent(counts, seconds, severity):
    assert [s.severity for s in detect(phy(70, *counts, seconds=seconds))] == ([severity] if severity else [])


def test_the_same_on_every_lane_is_one_event_long_over():
    assert detect(*(lane(n, 40, 40, 4, 0) for n in range(4))) == ()


def test_one_lane_of_a_cable_is_that_lane():
    (found,) = detect(lane(0), lane(1, 900, 20, 0, 0), lane(2), lane(3))
    assert found.key == "phy-errors:oss01:port-6:0"
    assert "1 of 4 lanes grow" in found.meaning
    assert "expander-6:0 (SEAGATE EXOS-E 5U84 6020)" in found.title


def test_many_links_of_one_expander_are_that_expander():
    (found,) = detect(*(phy(n, 50 + n, 0, 0, 0) for n in range(70, 74)))
    assert found.title == "4 links of expander-6:0 count errors, most on phy-6:0:73"
    assert len(found.evidence) == 4
    assert "before any disk" in found.meaning


def test_the_real_collectors_see_a_link_go_bad_on_a_twin(tmp_path):
    """From sysfs to the situation: what the phys said an hour ago comes from the portal."""
    host = twin(tmp_path, demo.oss01(0.0), Clock())
    before = {"sas_phys": (COLLECTORS["sas_phys"].collect(host)[0].body(), HOUR)}
    with host.store.changing() as node:
        node.phys["phy-6:0:107"] = [3120, 3007, 41, 0]
    taken = [capture for collector in COLLECTORS.values() for capture in collector.collect(host)]
    captures = {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}
    facts = node_facts("oss01", captures, 1.0, (), earlier=before)
    (found,) = [s for s in detect_all(FleetFacts({"oss01": facts})) if s.slug == "phy-errors"]
    assert (found.severity, found.subject["phy"], found.subject["wwid"]) == ("act", "phy-6:0:107", f"naa:{demo.BLANK_WWN}")
    assert "bay 21 of 0x50050cc11ac016e2" in found.title
    assert phy_errors.detect(FleetFacts({"oss01": node_facts("oss01", captures, 1.0, ())})) == ()


def test_without_an_earlier_sample_nothing_is_claimed():
    assert detect(phy(70, growth=Unknown("first report"), counts=(99999, 0, 0, 0))) == ()
    assert phy_errors.detect(fleet(replace(NODE, fabric=Unknown("timeout")))) == ()
