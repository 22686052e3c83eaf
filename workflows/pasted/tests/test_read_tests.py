"""Programs that read or write a whole disk: what they could not read is raised, and a run without errors is never good."""

from __future__ import annotations

import pytest

from workflows.triage import triage

BADBLOCKS = """# badblocks -sv /dev/sdq
Checking blocks 0 to 976762583
Checking for bad blocks (read-only test): 20480
20481
done
Pass completed, {count} bad blocks found. ({count}/0/0 errors)
"""
DDRESCUE = """GNU ddrescue 1.27
Press Ctrl-C to interrupt
     ipos:    4000 GB, non-trimmed:        0 B,  current rate:       0 B/s
     opos:    4000 GB, non-scraped:        0 B,  average rate:  98211 kB/s
non-tried:        0 B,  bad-sector:    {bytes} B,    error rate:       0 B/s
  rescued:    4000 GB,   bad areas:       {areas},        run time: 11h 19m
pct rescued:   99.99%, read errors:      {errors},  remaining time:         n/a
Finished
"""
HDPARM = """# hdparm -t /dev/sdq

/dev/sdq:
 Timing buffered disk reads: {printed}
"""
DD = """dd: error reading '/dev/sdq': Input/output error
2048+0 records in
2048+0 records out
1048576 bytes (1.0 MB, 1.0 MiB) copied, 9.1 s, 115 kB/s
"""
FIO = """fio-3.33
Starting 1 process
fio: io_u error on file /dev/sdq: Input/output error: read offset=4096, buflen=4096
job1: (groupid=0, jobs=1): err= 5 (file:io_u.c:1889, func=io_u error, error=Input/output error): pid=4711: Sat Feb  3 10:00:00 2024
"""


def found(text):
    read = triage([("p", text)])
    assert {each.outcome for each in read.reads if each.source} == {"read"}
    assert not read.good
    return [(each.slug, each.severity, each.subject.get("disk", "")) for each in read.situations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BADBLOCKS.format(count=2), [("disk-failing", "watch", "")]),
        (BADBLOCKS.format(count=0), []),
        (DDRESCUE.format(bytes=4096, areas=2, errors=31), [("disk-failing", "watch", "")]),
        (DDRESCUE.format(bytes=0, areas=0, errors=0), []),
        (HDPARM.format(printed="512 MB in  3.01 seconds = 170.32 MB/sec"), []),
        (HDPARM.format(printed="read() failed: Input/output error"), [("disk-errors", "watch", "sdq")]),
        (DD, [("disk-errors", "watch", "sdq")]),
        (FIO, [("disk-errors", "watch", "sdq")]),
    ],
    ids=["bad blocks", "no bad blocks", "ddrescue", "ddrescue without errors", "speed", "hdparm that failed", "dd", "fio"],
)
def test_what_could_not_be_read_is_raised(text, expected):
    assert found(text) == expected
