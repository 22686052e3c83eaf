"""Several texts of one pool: the newest one counts, whatever its place, and what only the other one says is not lost."""

from __future__ import annotations

import pytest

from workflows.triage import same_pool, triage

ROWS = "config:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        {0}     0     0     0\n\t  mirror-0  {0}     0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     {1}     0     0     0\n\n"
NEVER = "none requested"


def text(state: str, member: str, scan: str = NEVER, errors: str = "errors: No known data errors\n", pool: str = "tank") -> str:
    return f"  pool: {pool}\n state: {state}\n  scan: {scan}\n{ROWS.format(state, member).replace('tank', pool)}{errors}"


ILL, WELL = ("DEGRADED", "REMOVED"), ("ONLINE", "ONLINE")
OLD, NEW = (
    "scrub repaired 0B in 01:00:01 with 0 errors on Tue Mar  2 10:00:01 2025",
    "resilvered 1.20M in 00:00:01 with 0 errors on Tue Mar  4 10:00:01 2025",
)
DATES = (
    ("Tue Mar  2 10:00:01 CET 2025", "Tue Mar  4 10:00:01 CET 2025"),
    ("Tue  2 Mar 10:00:01 CET 2025".replace("  2", " 2"), "Tue 4 Mar 10:00:01 CET 2025"),
    ("2025-03-02 10:00:01", "2025-03-04T10:00:01+01:00"),
)


@pytest.mark.parametrize("apart", [True, False])
def test_the_text_with_the_later_scan_counts_wherever_it_stands(apart):
    ill, well = text(*ILL, NEW), text(*WELL, OLD)
    for first, second in ((ill, well), (well, ill)):
        found = triage([("p", first), ("q", second)] if apart else [("p", f"{first}\n{second}")])
        assert [s.slug for s in found.situations if s.severity == "act"] == ["disk-missing"]
    ill, well = text(*ILL, OLD), text(*WELL, NEW)
    for first, second in ((ill, well), (well, ill)):
        found = triage([("p", f"{first}\n{second}")])
        assert found.good
        assert any("sdb is REMOVED" in note for read in found.reads for note in read.notes)


@pytest.mark.parametrize("dates", DATES)
def test_the_text_below_the_later_date_counts(dates):
    before, after = dates
    found = triage([("p", f"{after}\n{text(*ILL)}\n{before}\n{text(*WELL)}")])
    assert [s.slug for s in found.situations if s.severity == "act"] == ["disk-missing"]
    found = triage([("p", f"{before}\n{text(*ILL)}\n{after}\n{text(*WELL)}")])
    assert found.good


def test_in_one_terminal_the_later_command_counts():
    assert triage([("p", f"# zpool status\n{text(*ILL)}\n# zpool status\n{text(*WELL)}")]).good


@pytest.mark.parametrize(("state", "slug"), [("DEGRADED", "vdev-degraded"), ("SUSPENDED", "pool-suspended"), ("UNAVAIL", "pool-down")])
def test_where_nothing_says_which_is_newer_the_contradiction_is_the_finding(state, slug):
    for texts in ([("p", text(state, "REMOVED")), ("q", text(*WELL))], [("p", f"{text(state, 'REMOVED')}\n{text(*WELL)}")]):
        found = triage(texts)
        (one,) = [s for s in found.situations if s.severity == "act"]
        assert (one.slug, one.title, one.gate) == (slug, "tank: two texts of it do not fit together", True)
        assert "sdb is REMOVED" in one.meaning
        assert not found.good


def test_damaged_data_in_one_of_two_texts_is_a_finding():
    ill = text(*WELL, errors="errors: 12 data errors, use '-v' for a list\n")
    found = triage([("p", ill), ("q", text(*WELL))])
    assert "its data is damaged" in next(s for s in found.situations if s.severity == "act").meaning


def test_a_later_text_of_one_pool_counts_for_that_pool_alone():
    both = f"{text(*WELL)}\n{text(*ILL, pool='dozer')}"
    found = triage([("p", f"# zpool status\n{both}\n# zpool status tank\n{text(*ILL)}")])
    assert {(pool.name, pool.state) for pool in found.fleet.nodes["pasted"].pools_read} == {("tank", "DEGRADED"), ("dozer", "DEGRADED")}


def test_a_later_text_that_is_cut_off_hides_no_whole_one():
    found = triage([("p", f"# zpool status\n{text(*ILL)}\n# zpool status tank\n  pool: tank\n state: DEGRADED\n")])
    assert [s.slug for s in found.situations if s.severity == "act"] == ["disk-missing"]


@pytest.mark.parametrize(
    ("line", "clock"),
    [
        ("Fri 27 Nov 2026 09:05:00 PM UTC", "21:05:00"),
        ("Fri 27 Nov 2026 12:05:00 AM UTC", "00:05:00"),
        ("Fri 27 Nov 2026 12:05:00 PM UTC", "12:05:00"),
        ("Fri Nov 27 21:05:00 UTC 2026", "21:05:00"),
    ],
)
def test_a_clock_of_twelve_hours_is_one_of_twenty_four(line, clock):
    assert same_pool.time_above([line, "  pool: tank"], 2) == (2026, 11, 27, clock)


def test_the_rows_of_an_older_text_are_named_where_the_newer_one_shows_none():
    later = "  pool: tank\n state: DEGRADED\nstatus: One or more devices is currently being resilvered.\n  scan: resilver in progress since Tue Mar  4 10:00:01 2025\n\t1.20M resilvered, 7.32% done\n"
    found = triage([("p", f"# zpool status tank\n{text(*ILL)}\n# zpool status tank\n{later}")])
    assert not found.good
    assert any("In the older one: mirror-0 is DEGRADED; sdb is REMOVED." in note for read in found.reads for note in read.notes)
