"""MegaCli: a write cache that does other than it was set to."""

import pytest

from workflows.triage import triage

VOLUME = """Adapter 0 -- Virtual Drive Information:
Virtual Drive: 3 (Target Id: 3)
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
State               : Optimal
Default Cache Policy: {wanted}
Current Cache Policy: {now}

Exit Code: 0x00
"""
CACHE = "{}, ReadAhead, Direct, {} if Bad BBU"


@pytest.mark.parametrize(
    ("wanted", "now", "words"),
    [
        (CACHE.format("WriteBack", "No Write Cache"), CACHE.format("WriteThrough", "No Write Cache"), "writes through"),
        (CACHE.format("WriteBack", "Write Cache OK"), CACHE.format("WriteBack", "Write Cache OK"), "without a charged battery"),
        (CACHE.format("WriteBack", "No Write Cache"), CACHE.format("WriteBack", "No Write Cache"), ""),
        (CACHE.format("WriteThrough", "No Write Cache"), CACHE.format("WriteThrough", "No Write Cache"), ""),
    ],
)
def test_a_write_cache_that_does_other_than_it_was_set_to_is_told(wanted, now, words):
    found = triage([("p", VOLUME.format(wanted=wanted, now=now))]).situations
    assert [(one.slug, one.severity) for one in found] == ([("hba-fault", "watch")] if words else [])
    assert all(words in one.title for one in found)
