"""A mail of ZED beside the tree of its pool."""

from __future__ import annotations

from workflows.pasted.tests.test_readers import text
from workflows.triage import triage

CLEAN = "  pool: ost_7\n state: ONLINE\nconfig:\n\n\tNAME   STATE  READ WRITE CKSUM\n\tost_7  ONLINE     0     0     0\n\t  sdf  ONLINE     0     0     0\n\nerrors: No known data errors\n"


def test_a_mail_of_zed_adds_nothing_to_a_tree_that_shows_the_trouble():
    ill = CLEAN.replace("sdf  ONLINE     0     0", "sdf  ONLINE     3     0")
    found = triage([("p", text("zed_mail-faulted")), ("q", ill)]).situations
    assert "zfs-events" not in {one.slug for one in found}
    assert not triage([("p", text("alerts-suspended")), ("q", CLEAN)]).situations


def test_a_clean_tree_does_not_take_back_what_a_mail_of_zed_tells_of():
    (found,) = triage([("p", text("zed_mail-faulted")), ("q", CLEAN)]).situations
    assert (found.slug, found.severity, found.sure) == ("zfs-events", "watch", False)
    assert "replace nothing" in found.meaning
    assert not triage([("p", text("zed_mail-faulted").replace("FAULTED", "ONLINE")), ("q", CLEAN)]).situations
