"""Every kind of line that `zpool status` and `zpool import` print, 0.7 to the development branch: read, told by a situation, or raised.

The kinds are those of the printing functions of cmd/zpool/zpool_main.c (print_scan_status and its kin, print_removal_status,
print_checkpoint_status, print_raidz_expand_status, print_condense_status, print_err_scrub_status, print_dedup_stats, print_status_reason,
print_status_config, status_callback, show_import, print_import_config).
"""

from __future__ import annotations

import pytest

from workflows.triage import Triage, triage

DATE = "Sun Nov 15 00:34:12 2026"
ROWS = ("vault  ONLINE  0 0 0", "  mirror-0  ONLINE  0 0 0", "    sda  ONLINE  0 0 0", "    sdb  ONLINE  0 0 0")


def status(*lines: str, rows: tuple[str, ...] = ROWS, state: str = "ONLINE", after: tuple[str, ...] = ()) -> str:
    """One pool of `zpool status`. `lines` stand between state: and config:, `after` behind errors:."""
    head = ["  pool: vault", f" state: {state}", *lines, "config:", "", "\tNAME  STATE  READ WRITE CKSUM"]
    return "\n".join([*head, *(f"\t{row}" for row in rows), "", "errors: No known data errors", *after]) + "\n"


def listing(*lines: str, rows: tuple[str, ...] = (), state: str = "ONLINE", indent: str = " ", after: tuple[str, ...] = ()) -> str:
    """One pool of `zpool import`; since 2.3 all stands one column further left."""
    rows = rows or (f"vault  {state}", "  mirror-0  ONLINE", "    sda  ONLINE", "    sdb  ONLINE")
    head = [f"{indent}  pool: vault", f"{indent}    id: 8123456789012345678", f"{indent} state: {state}"]
    fields = [line if line.startswith("\t") or not line.partition(" ")[0].endswith(":") else f"{indent}{line}" for line in lines]
    return "\n".join([*head, *fields, f"{indent}config:", "", *(f"\t{row}" for row in rows), *after]) + "\n"


def read(text: str) -> Triage:
    return triage([("paste", text)])


def kinds_of(answer: Triage) -> set[tuple[str, str]]:
    return {(found.severity, found.slug) for found in answer.situations if found.slug not in ("scrub-overdue", "features-disabled")}


SCANS = (
    "  scan: none requested",
    f"  scan: scrub repaired 0B in 0h8m with 0 errors on {DATE}",
    f"  scan: scrub repaired 0B in 0 days 00:11:22 with 0 errors on {DATE}",
    f"  scan: scrub repaired 0B in 00:11:22 with 0 errors on {DATE}",
    f"  scan: thorough scrub repaired 0B in 2 days 00:11:22 with 0 errors on {DATE}",
    f"  scan: resilvered 12.4G in 00:11:22 with 0 errors on {DATE}",
    f"  scan: resilvered (mirror-0) 12.4G in 00:11:22 with 0 errors on {DATE}",
    f"  scan: scrub canceled on {DATE}",
    f"  scan: scrub in progress since {DATE}\n\t1.20T scanned out of 3.20T at 120M/s, 4h12m to go\n\t0B repaired, 37.50% done",
    f"  scan: scrub in progress since {DATE}\n\t1.20T scanned out of 3.20T at 1M/s, (scan is slow, no estimated time)\n\t0B repaired, 37.50% done",
    f"  scan: scrub in progress since {DATE}\n\t1.20T scanned at 120M/s, 1.10T issued at 90M/s, 3.20T total\n\t0B repaired, 34.38% done, 0 days 04:12:00 to go",
    f"  scan: scrub in progress since {DATE}\n\t1.20T / 3.20T scanned, 1.10T / 3.20T issued\n\t0B repaired, 34.38% done, no estimated completion time",
    f"  scan: thorough scrub in progress since {DATE}\n\t1.20T / 3.20T scanned at 120M/s, 1.10T / 3.20T issued at 90M/s\n\t0B repaired, 34.38% done, 04:12:00 to go",
    f"  scan: scrub repaired 0B in 00:11:22 with 0 errors on {DATE}\n scrub: error scrub in progress since {DATE}\n\t12.20% done, issued I/O for 33 error blocks",
    f"  scan: scrub repaired 0B in 00:11:22 with 0 errors on {DATE}\n scrub: scrubbed 12 error blocks in 0 days 00:00:10 on {DATE}",
    f"  scan: scrub repaired 0B in 00:11:22 with 0 errors on {DATE}\n scrub: error scrub canceled on {DATE}",
    f"  scan: scrub repaired 0B in 00:11:22 with 0 errors on {DATE}\n    scan warning: skipped blocks that are only referenced by the checkpoint.",
)
OF_A_POOL = (  # lines between state: and config: that tell of no trouble, and what may be said of them
    f"remove: Removal of vdev 1 copied 1.20G in 0h3m, completed on {DATE}\n\t8.03M memory used for removed device mappings",
    f"remove: Removal of vdev 1 copied 1.20G in 0h3m, completed on {DATE}\n    8.03M memory used for removed device mappings",
    f"remove: Evacuation of mirror-1 in progress since {DATE}\n\t1.20G copied out of 3.20G at 20M/s, 37.50% done, 0h2m to go",
    f"remove: Removal of mirror-1 canceled on {DATE}",
    f"checkpoint: created {DATE}, consumes 1.20G",
    "checkpoint: discarding, 1.20G remaining.",
    f"expand: expanded raidz1-0 copied 12.2G in 00:10:10, on {DATE}",
    f"expand: expansion of raidz1-0 in progress since {DATE}\n\t1.20T / 3.20T copied at 120M/s, 37.50% done, 04:12:00 to go",
    f"expand: expansion of raidz1-0 in progress since {DATE}\n\t1.20T / 3.20T copied at 120M/s, 37.50% done, (copy is slow, no estimated time)",
    "condense: log-spacemap: condensing, 3/44 blocks done in 00:00:12",
    "condense: indirect: cancelled, 3/44 entries done in 00:00:12",
    "condense: indirect: done, 44 entries done in 00:00:12",
    "status: Some supported and requested features are not enabled on the pool.\n\tThe pool can still be used, but some features are unavailable.\n"
    "action: Enable all features using 'zpool upgrade'. Once this is done,\n\tthe pool may no longer be accessible by software that does not support\n\tthe features.",
    "status: This pool has a compatibility list specified, but it could not be\n\tread/parsed at this time. The pool can still be used, but this\n\tshould be investigated.\n"
    "action: Check the value of the 'compatibility' property against the\n\tappropriate file in /etc/zfs/compatibility.d or /usr/share/zfs/compatibility.d.",
)
NOTES = (
    "(removing)",
    "(non-allocating)",
    "(37% initialized, started at Sun Nov 15 00:34:12 2026)",
    "(uninitialized)",
    "(initializing)",
    "(100% trimmed, completed at Sun Nov 15 00:34:12 2026)",
    "(untrimmed)",
    "(trimming)",
    "(trim unsupported)",
    "(uninitialized)  (trim unsupported)",
)
DEDUP = (
    " dedup: no DDT entries",
    " dedup: DDT entries 120, size 320B on disk, 160B in core",
    " dedup: DDT entries 120, size 320B on disk, 160B in core, 1K cached (12.30%)\n\n"
    "bucket              allocated                       referenced          \n"
    "______   ______________________________   ______________________________\n"
    "refcnt   blocks   LSIZE   PSIZE   DSIZE   blocks   LSIZE   PSIZE   DSIZE\n"
    "------   ------   -----   -----   -----   ------   -----   -----   -----\n"
    "     1      120     15M     15M     15M      120     15M     15M     15M\n"
    " Total      120     15M     15M     15M      120     15M     15M     15M\n",
)
READ_WHOLE = (
    *(status(scan) for scan in SCANS),
    *(status(SCANS[3], line) for line in OF_A_POOL),
    *(
        status(SCANS[3], rows=("vault  ONLINE  0 0 0", f"  sda  ONLINE  0 0 0  {note}", "  sdb  ONLINE  0 0 0"), state="ONLINE")
        for note in NOTES
    ),
    *(status(SCANS[3], after=("", table)) for table in DEDUP),
)


WATCHED = ("resilvered (mirror-0)", "copy is slow")  # a rebuild checks no checksums; and an expansion that does not get on


@pytest.mark.parametrize("text", READ_WHOLE)
def test_a_line_of_a_pool_that_serves_is_read_and_is_no_trouble(text: str) -> None:
    answer = read(text)
    assert [one.outcome for one in answer.reads] == ["read"], [(one.reason, one.unread) for one in answer.reads]
    assert all(severity == "info" for severity, _ in kinds_of(answer)) or any(words in text for words in WATCHED), kinds_of(answer)


CANNOT = "action: The pool cannot be imported due to damaged devices or data."
CAN = "action: The pool can be imported using its name or numeric identifier."
DESPITE = "action: The pool can be imported despite missing or damaged devices.  The\n\tfault tolerance of the pool may be compromised if imported."
LISTED = (  # lines, state, the slug that tells of it ("" where nothing keeps the pool from being imported)
    ((CAN,), "ONLINE", ""),
    (("status: The pool was last accessed by another system.", f"{CAN[:-1]} and\n\tthe '-f' flag."), "ONLINE", "foreign-pool-imported-elsewhere"),
    (("status: One or more devices were being resilvered.", CAN), "ONLINE", ""),
    (("status: The pool is formatted using a legacy on-disk version.", CAN), "ONLINE", ""),
    (("status: Some supported features are not enabled on the pool.\n\t(Note that they may be intentionally disabled if the\n\t'compatibility' property is set.)", CAN), "ONLINE", ""),
    (("status: Error reading or parsing the file(s) indicated by the 'compatibility'\nproperty.", CAN), "ONLINE", ""),  # 2.1 and 2.2: no tab
    (("status: One or more features are enabled on the pool despite not being\nrequested by the 'compatibility' property.", CAN), "ONLINE", ""),
    (("status: One or more devices are configured to use a non-native block size.\n\tExpect reduced performance.", CAN), "ONLINE", ""),
    *(((f"status: Errata #{number} detected.", CAN, "   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-ER"), "ONLINE", "pool-errata") for number in (1, 2, 3, 4, 9)),
    (("status: An intent log record cannot be read.", CANNOT), "FAULTED", "import-blocked"),
    (("status: The pool metadata is incomplete or corrupted.", CANNOT), "FAULTED", "import-blocked"),
    (("status: The pool data is corrupted.", CANNOT), "FAULTED", "import-blocked"),
    (("status: The pool is formatted using an incompatible version.", "action: The pool cannot be imported.  Access the pool on a system running newer\n\tsoftware, or recreate the pool from backup."), "UNAVAIL", "import-blocked"),
    (("status: The pool uses the following feature(s) not supported on this system:\n\tcom.example:new_things (Keeps new things.)", CANNOT), "UNAVAIL", "import-blocked"),
    (("status: The pool is currently imported by another system.", "action: The pool must be exported from heron (hostid=8f2a1b3c)\n\tbefore it can be safely imported."), "UNAVAIL", "foreign-pool-imported-elsewhere"),
    (("status: The pool has the multihost property on.  It cannot\n\tbe safely imported when the system hostid is not set.", "action: Set a unique system hostid with the zgenhostid(8) command."), "UNAVAIL", "import-blocked"),
)  # fmt: skip


@pytest.mark.parametrize(("lines", "state", "slug"), LISTED)
@pytest.mark.parametrize("indent", [" ", ""])
def test_a_listing_is_read_and_what_it_says_is_told(lines: tuple[str, ...], state: str, slug: str, indent: str) -> None:
    answer = read(listing(*lines, state=state, indent=indent))
    assert [one.outcome for one in answer.reads] == ["read"], [(one.reason, one.unread) for one in answer.reads]
    assert {found for _, found in kinds_of(answer)} == ({slug} if slug else set())


@pytest.mark.parametrize(
    ("leaf", "status_line"),
    [
        ("OFFLINE", "One or more devices are offlined."),
        ("FAULTED  too many errors", "One or more devices are faulted."),
        ("DEGRADED  too many errors", "One or more devices are faulted."),
        ("UNAVAIL", "One or more devices are missing from the system."),
        ("UNAVAIL  invalid label", "One or more devices contains corrupted data."),
        ("UNAVAIL  cannot open", "One or more failure  domains are faulted."),
    ],
)
def test_a_listing_with_one_member_ill_is_told_by_one_situation(leaf: str, status_line: str) -> None:
    rows = ("vault  DEGRADED", "  mirror-0  DEGRADED", "    sda  ONLINE", f"    sdb  {leaf}")
    answer = read(listing(f"status: {status_line}", DESPITE, rows=rows, state="DEGRADED"))
    assert [found.slug for found in answer.situations] == ["import-blocked"]


@pytest.mark.parametrize("line", ["errata: Errata #4 detected.", "newfield: something", " condensing: much"])
@pytest.mark.parametrize("make", [listing, status])
def test_a_field_that_no_release_prints_yet_is_raised_and_hides_nothing(line: str, make) -> None:
    answer = read(make(CAN if make is listing else SCANS[3], line))
    assert [one.outcome for one in answer.reads] == ["partly"]
    assert kinds_of(answer) == {("watch", "unexplained")}
    assert any(line.strip() in found.title for found in answer.situations)
    assert not answer.good


GAPS = (
    "[...]",
    "...",
    "…",
    "<snip>",
    "-- snip --",
    "(20 more)",
    "... 20 more disks, all ONLINE ...",
    "[output truncated]",
    ".",
    ":",
)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("indent", ["", "\t    "])
def test_rows_that_were_left_out_are_named_and_are_no_word_of_zfs(gap: str, indent: str) -> None:
    rows = ("vault  ONLINE  0 0 0", "  raidz2-0  ONLINE  0 0 0", *(f"    sd{letter}  ONLINE  0 0 0" for letter in "abcd"))
    whole = status(SCANS[3], rows=rows)
    answer = read(whole.replace("\t    sdd", f"{indent}{gap}\n\t    sdd"))
    (one,) = answer.reads
    assert one.outcome == "partly"
    assert [why for _, why in one.unread] == ["rows were left out of the text here"]
    assert not answer.good
    assert not kinds_of(answer)
    assert all(leaf.note == "" for pool in answer.fleet.nodes["pasted"].pools_read for _, top in pool.tops_read for leaf in top.leaves())


def test_a_pool_without_a_tree_is_told_as_such() -> None:
    answer = read("  pool: vault\n state: UNAVAIL\nconfig: The configuration cannot be determined.\n")
    (one,) = answer.reads
    assert [why for _, why in one.unread] == ["zpool itself could not read which vdevs the pool has"]
    assert ("act", "pool-down") in kinds_of(answer)


@pytest.mark.parametrize("text", ["all pools are healthy", "pool 'vault' is healthy"])
@pytest.mark.parametrize("command", ["", "root@heron:~# zpool status -x\n"])
def test_a_short_answer_is_named_for_what_it_is(text: str, command: str) -> None:
    answer = read(f"{command}{text}\n")
    assert text in answer.reads[-1].reason
    assert not answer.good


def test_a_paused_error_scrub_goes_on_as_an_error_scrub() -> None:
    paused = f" scrub: error scrub paused since {DATE}\n\terror scrub started on {DATE}\n\t12.20% done, issued I/O for 33 error blocks"
    (found,) = (one for one in read(status(SCANS[3], paused)).situations if one.slug == "scrub-paused")
    assert found.cures[0].argv == (("zpool", "scrub", "-e", "vault"),)
