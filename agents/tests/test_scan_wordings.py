"""Every string that print_scan_status() and its kin can print, from OpenSolaris to OpenZFS 2.4, is read."""

import pytest

from agents.collectors import _scans
from agents.collectors.zpool_status import read

DATE = "Sun Feb  4 13:08:42 2024"
ISO = "2024-02-04T13:08:42"
BELOW_0_6 = "\n    248G scanned out of 2.84T at 57.1M/s, {eta}\n    {done}"
BELOW_0_8 = "\n\t2.1T scanned at 1.1G/s, 1.9T issued at 620M/s, 5.7T total\n\t{done}"
BELOW_2_2 = "\n\t2.1T / 5.7T scanned at 1.1G/s, 1.9T / 5.6T issued at 620M/s\n\t{done}"
SLOW_0_6 = "(scan is slow, no estimated time)"
NOT_YET = "no estimated completion time"

# key, text -> function, state, percent, errors, seconds left, when it ended, what it repaired
FORMS = [
    ("scan", "none requested", ("none", "none", None, None, None, None, None)),
    ("scrub", "none requested", ("none", "none", None, None, None, None, None)),
    ("scrub", f"scrub completed after 1h2m with 3 errors on {DATE}", ("scrub", "finished", None, 3, None, ISO, None)),
    ("scrub", f"scrub completed with 0 errors on {DATE}", ("scrub", "finished", None, 0, None, ISO, None)),
    ("scrub", f"scrub stopped after 0h3m with 0 errors on {DATE}", ("scrub", "canceled", None, 0, None, ISO, None)),
    ("scrub", f"resilver completed after 0h3m with 0 errors on {DATE}", ("resilver", "finished", None, 0, None, ISO, None)),
    ("scrub", "scrub in progress, 3.91% done, 0h12m to go", ("scrub", "running", "3.91", None, 720, None, None)),
    ("scrub", "scrub in progress for 0h1m, 3,91% done, 1h12m to go", ("scrub", "running", "3.91", None, 4320, None, None)),
    ("scrub", "resilver in progress for 0h0m, 0.00% done, 25h1m to go", ("resilver", "running", "0.00", None, 90060, None, None)),
    ("scan", f"scrub repaired 0 in 5h41m with 0 errors on {DATE}", ("scrub", "finished", None, 0, None, ISO, "0")),
    ("scan", f"scrub repaired 1.5M in 0 days 03:11:23 with 2 errors on {DATE}", ("scrub", "finished", None, 2, None, ISO, "1.5M")),
    ("scan", f"scrub repaired 0B in 03:11:23 with 0 errors on {DATE}", ("scrub", "finished", None, 0, None, ISO, "0B")),
    ("scan", f"scrub repaired 0B in 1 days 03:11:23 with 0 errors on {DATE}", ("scrub", "finished", None, 0, None, ISO, "0B")),
    ("scan", f"resilvered 580G in 16h55m with 0 errors on {DATE}", ("resilver", "finished", None, 0, None, ISO, None)),
    ("scan", f"resilvered (draid1:2d:6c:1s-0) 5G in 00:01:11 with 0 errors on {DATE}", ("rebuild", "finished", None, 0, None, ISO, None)),
    ("scan", f"rebuilt (mirror-1) 5G in 00:01:11 with 0 errors on {DATE}", ("rebuild", "finished", None, 0, None, ISO, None)),
    ("scan", f"scrub canceled on {DATE}", ("scrub", "canceled", None, None, None, ISO, None)),
    ("scan", f"resilver canceled on {DATE}", ("resilver", "canceled", None, None, None, ISO, None)),
    ("scan", f"resilver (mirror-1) canceled on {DATE}", ("rebuild", "canceled", None, None, None, ISO, None)),
    (
        "scan",
        f"resilver in progress since {DATE}" + BELOW_0_6.format(eta="13h14m to go", done="49.4G resilvered, 8.53% done"),
        ("resilver", "running", "8.53", None, 47640, None, None),
    ),
    (
        "scan",
        f"scrub in progress since {DATE}" + BELOW_0_6.format(eta=SLOW_0_6, done="0 repaired, 0.04% done"),
        ("scrub", "running", "0.04", None, None, None, "0"),
    ),
    (
        "scan",
        f"scrub paused since {DATE}\n\tscrub started on   {DATE}\n\t1.2G scanned out of 2.84T\n\t0 repaired, 0.04% done",
        ("scrub", "paused", "0.04", None, None, None, "0"),
    ),
    (
        "scan",
        f"resilver in progress since {DATE}" + BELOW_0_8.format(done="120G resilvered, 34,02% done, 3 days 02:11:22 to go"),
        ("resilver", "running", "34.02", None, 267082, None, None),
    ),
    (
        "scan",
        f"scrub in progress since {DATE}" + BELOW_2_2.format(done=f"12M repaired, 34.02% done, {NOT_YET}"),
        ("scrub", "running", "34.02", None, None, None, "12M"),
    ),
    (
        "scan",
        f"scrub paused since {DATE}\n\tscrub started on {DATE}\n\t1T / 2T scanned, 1T / 2T issued\n\t0B repaired, 50.00% done",
        ("scrub", "paused", "50.00", None, None, None, "0B"),
    ),
    (
        "scan",
        f"resilver (draid2:4d:8c:1s-0) in progress since {DATE}" + BELOW_2_2.format(done="120G resilvered, 100.00% done, 00:00:22 to go"),
        ("rebuild", "running", "100.00", None, 22, None, None),
    ),
    (
        "scan",
        f"scrub repaired 0B in 03:11:23 with 0 errors on {DATE}\n    scan warning: skipped blocks that are only referenced by the checkpoint.",
        ("scrub", "finished", None, 0, None, ISO, "0B"),
    ),
    (
        "scrub",
        f"error scrub in progress since {DATE}\n\t3.00% done, issued I/O for 12 error blocks",
        ("scrub", "running", "3.00", None, None, None, None),
    ),
    (
        "scrub",
        f"error scrub paused since {DATE}\n\terror scrub started on {DATE}\n\t3.00% done, issued I/O for 12 error blocks",
        ("scrub", "paused", "3.00", None, None, None, None),
    ),
    ("scrub", f"error scrub canceled on {DATE}", ("scrub", "canceled", None, None, None, ISO, None)),
    ("scrub", f"scrubbed 12 error blocks in 0 days 00:00:01 on {DATE}", ("scrub", "finished", None, None, None, ISO, None)),
]

OTHERS = [
    f"remove: Removal of vdev 1 copied 1.2G in 0h2m, completed on {DATE}\n\t3.4K memory used for removed device mappings\n",
    f"remove: Removal of mirror-1 canceled on {DATE}\n",
    f"remove: Evacuation of mirror-1 in progress since {DATE}\n\t1G copied out of 2G at 1M/s, 50.00% done, 0h2m to go\n",
    f"remove: Evacuation of mirror-1 in progress since {DATE}\n\t1G copied out of 2G at 1/s, 50.00% done, (copy is slow, no estimated time)\n",
    f"checkpoint: created {DATE}, consumes 1.2G\n",
    "checkpoint: discarding, 1.2G remaining.\n",
    f"expand: expanded raidz1-0 copied 1.2G in 00:00:10, on {DATE}\n",
    f"expand: expansion of raidz1-0 in progress since {DATE}\n\t1G / 2G copied at 1M/s, 50.00% done, 00:02:00 to go\n",
    f"expand: expansion of raidz1-0 in progress since {DATE}\n\t1G / 2G copied at 1M/s, 50.00% done, paused for resilver or clear\n",
    "  trim: none requested\n",
    "   see: http://www.sun.com/msg/ZFS-8000-8A\n",
    "   see: http://illumos.org/msg/ZFS-8000-JQ\n",
    "   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-9P\n",
]
TEXT = """  pool: vault
 state: ONLINE
{lines}config:

\tNAME        STATE     READ WRITE CKSUM
\tvault       ONLINE       0     0     0
\t  mirror-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0

errors: No known data errors
"""


@pytest.mark.parametrize(("key", "text", "means"), FORMS, ids=[text.split("\n")[0][:60] for _, text, _ in FORMS])
def test_every_wording_of_a_scan_is_read(key, text, means):
    found = read(TEXT.format(lines=f" {key}: {text}\n"))
    assert found.every_unread == ()
    ((scan,),) = (pool.scans for pool in found.value)
    repaired = _scans.repaired(scan.text)
    assert (scan.function, scan.state, scan.percent, scan.errors, _scans.seconds_left(scan.eta), _scans.ended(scan.text), repaired) == means
    if scan.state in ("running", "paused") and DATE in text:
        assert _scans.began(scan.text) == ISO


@pytest.mark.parametrize("lines", OTHERS)
def test_every_other_line_about_the_pool_is_read(lines):
    assert read(TEXT.format(lines=lines)).every_unread == ()


def test_several_scans_of_one_pool_are_all_read():
    several = f"  scan: scrub repaired 0B in 03:11:23 with 0 errors on {DATE}\n  scan: resilvered (mirror-0) 5G in 00:01:11 with 0 errors on {DATE}\n"
    (pool,) = read(TEXT.format(lines=several)).value
    assert [scan.function for scan in pool.scans] == ["scrub", "rebuild"]


def test_deduplication_statistics_below_the_errors_are_no_damaged_files():
    table = "\n dedup: DDT entries 5, size 4.50K on disk, 1.50K in core\n\nbucket              allocated\nrefcnt   blocks   LSIZE\n"
    (pool,) = read(TEXT.format(lines="  scan: none requested\n") + table).value
    assert (pool.errors, pool.unread) == ("No known data errors", ())


@pytest.mark.parametrize("text", ["no estimated completion time", "soon", "", "1:2:3:4", "3 days", None])
def test_no_time_left_is_made_up(text):
    assert _scans.seconds_left(text) is None


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("  SLOW", "     4"),
        ("  POWER", "    on"),
        ("   DIO", "     0"),
        ("  vendor  model  temp", "  SEAGATE  ST8000NM0075    29"),
        ("  temp", "    29"),
    ],
)
@pytest.mark.parametrize(
    "note", ["", "  too many errors", "  (resilvering)", "  (100% trimmed, completed at Sun Feb  4 13:08:42 2024)", "  (uninitialized)"]
)
def test_no_column_and_no_note_hides_a_row(columns, row, note):
    behind = f"{row}{note}" if columns.strip().isupper() else f"{note}{row}" if "%" not in note and "uninit" not in note else f"{row}{note}"
    text = (
        TEXT.format(lines="")
        .replace("CKSUM", f"CKSUM{columns}")
        .replace("sdb     ONLINE       0     0     0", f"sdb     ONLINE       0     0     7{behind}")
    )
    if columns.strip().isupper():
        text = "\n".join(line + "     -" if line.startswith("\t") and line.endswith("0     0     0") else line for line in text.split("\n"))
    found = read(text)
    assert found.every_unread == ()
    (sdb,) = (leaf for leaf in found.value[0].vdevs.children[0].children if leaf.name == "sdb")
    assert (sdb.state, sdb.errors, sdb.note) == ("ONLINE", (0, 0, 7), note.strip())
    if columns.strip().islower():
        assert dict(sdb.columns)["temp"] == "29"
