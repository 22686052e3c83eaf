"""Errors that a device in service counted are told, whatever the device is for."""

from __future__ import annotations

import pytest

from workflows.triage import triage

TREE = """  pool: lake
 state: ONLINE
  scan: scrub repaired 0B in 00:10:02 with 0 errors on Sun Nov  2 00:34:03 2025
config:

\tNAME             STATE     READ WRITE CKSUM
\tlake             ONLINE       0     0     0
\t  mirror-0       ONLINE       0     0     0
\t    ata-A_11     ONLINE    {data}
\t    ata-A_12     ONLINE       0     0     0
\tspecial
\t  mirror-1       ONLINE       0     0     0
\t    ata-B_21     ONLINE    {special}
\t    ata-B_22     ONLINE       0     0     0
\tlogs
\t  ata-C_31       ONLINE    {log}
\tcache
\t  ata-D_41       ONLINE    {cache}

errors: No known data errors
"""
ROLES = ("data", "special", "log", "cache")


@pytest.mark.parametrize("counts", ["   4     0     0", "   0     7     0", "   0     0 2.71K"])
@pytest.mark.parametrize("role", ROLES)
def test_what_any_device_in_service_counted_is_never_good(role: str, counts: str) -> None:
    text = TREE.format_map({each: counts if each == role else "   0     0     0" for each in ROLES})
    found = triage([("text", text)])
    assert not found.good
    assert any(one.severity == "watch" and "counted" in f"{one.title} {one.meaning}" for one in found.situations)


def test_a_cache_device_that_counted_errors_is_removed_and_never_replaced() -> None:
    text = TREE.format_map({each: "   5    85     0" if each == "cache" else "   0     0     0" for each in ROLES})
    (one,) = (each for each in triage([("text", text)]).situations if each.slug == "disk-errors")
    assert "no data is at stake" in one.meaning
    assert [cure.kind for cure in one.cures] == ["reseat", "remove"]
    assert one.subject["role"] == "cache"
