"""What a pool says besides its members: each reason is one situation with its severity, its words and its cures, and a healthy pool is silent."""

from __future__ import annotations

import re

import pytest

from workflows.situations.tests.texts import MIRROR, RAIDZ2, commands, found, only, status, words

NEVER = "scrub-overdue"
SPARE = "/dev/disk/by-id/wwn-0x5000c500a65b209b-part1"
FAST = "/dev/disk/by-id/nvme-ACME_X1_0001-part1"
OTHER_FAST = "/dev/disk/by-id/nvme-ACME_X1_0002-part1"

# what it is -> (slug, severity, text, words that a reader must find)
REASONS = {
    "hostid": (
        "hostid-mismatch",
        "watch",
        status(
            *MIRROR,
            status="Mismatch between pool hostid and system hostid on imported pool.\n\tThis pool was previously imported into a system",
            see="ZFS-8000-EY",
        ),
        ("another host", "zgenhostid", "zpool export oak"),
    ),
    "hostid, of 0.6.3": ("hostid-mismatch", "watch", status(*MIRROR, see="ZFS-8000-EY"), ("another host", "container")),
    "errata 4": ("pool-errata", "watch", status(*MIRROR, status="Errata #4 detected.", see="ZFS-8000-ER"), ("errata 4", "bookmark_v2")),
    "errata 1": ("pool-errata", "watch", status(*MIRROR, status="Errata #1 detected."), ("errata 1", "zpool scrub oak")),
    "an errata of tomorrow": ("pool-errata", "watch", status(*MIRROR, status="Errata #7 detected."), ("errata 7", "zpool status oak")),
    "log off": (
        "log-device-lost",
        "watch",
        status(*MIRROR, "logs", f"  {FAST} OFFLINE 0 0 0", state="DEGRADED"),
        ("the pool is whole", "last seconds of synchronous writes", f"zpool online oak {FAST}", f"zpool remove oak {FAST}"),
    ),
    "log gave up": (
        "log-device-lost",
        "watch",
        status(*MIRROR, "logs", f"  {FAST} FAULTED 0 12 0  too many errors", state="DEGRADED"),
        ("too many errors", f"zpool replace oak {FAST}"),
    ),
    "half a log mirror": (
        "log-device-lost",
        "watch",
        status(
            *MIRROR,
            "logs",
            "  mirror-1 DEGRADED 0 0 0",
            f"    {FAST} ONLINE 0 0 0",
            f"    {OTHER_FAST} UNAVAIL 0 0 0  cannot open",
            state="DEGRADED",
        ),
        ("holds the log alone", f"zpool detach oak {OTHER_FAST}"),
    ),
    "cache away": (
        "cache-device-lost",
        "watch",
        status(*MIRROR, "cache", f"  {FAST} UNAVAIL 0 0 0  cannot open"),
        ("no data is at stake", f"zpool remove oak {FAST}", "zpool add oak cache"),
    ),
    "cache written over": (
        "cache-device-lost",
        "watch",
        status(*MIRROR, "cache", f"  {FAST} FAULTED 0 0 0  corrupted data"),
        ("written over",),
    ),
    "spare away": (
        "spare-unavailable",
        "watch",
        status(*MIRROR, "spares", f"  {SPARE} UNAVAIL   cannot open"),
        ("the next failure in oak has no spare", f"zpool remove oak {SPARE}"),
    ),
    "one spare of two away": (
        "spare-unavailable",
        "watch",
        status(*MIRROR, "spares", f"  {SPARE} FAULTED   corrupted data", "  /dev/disk/by-id/wwn-0x5000c500a65b208b-part1 AVAIL"),
        ("1 spare of oak is free",),
    ),
    "spare lent": (
        "spare-unavailable",
        "info",
        status(*MIRROR, "spares", f"  {SPARE} INUSE     in use by pool 'elm'"),
        ("stands in for a member of elm",),
    ),
    "spare in use nowhere": (
        "spare-unused",
        "watch",
        status(*MIRROR, "spares", f"  {SPARE} INUSE     currently in use"),
        ("protects nothing", "another pool that shares it", f"zpool remove oak {SPARE}"),
    ),
    "special alone": (
        "aux-without-redundancy",
        "act",
        status(*MIRROR, "special", f"  {FAST} ONLINE 0 0 0"),
        ("the whole pool is lost", f"zpool attach oak {FAST}"),
    ),
    "dedup alone beside raidz": (
        "aux-without-redundancy",
        "act",
        status(*RAIDZ2, "dedup", f"  {FAST} ONLINE 0 0 0"),
        ("No release can remove it", "raidz2-0"),
    ),
    "a disk beside raidz": (
        "top-without-redundancy",
        "act",
        status(*RAIDZ2, f"  {SPARE} ONLINE 0 0 0"),
        ("the whole pool is lost", "No release can remove it", f"zpool attach oak {SPARE}", "Attach 2 disks"),
    ),
    "a disk beside a mirror": (
        "top-without-redundancy",
        "act",
        status(*MIRROR, f"  {SPARE} ONLINE 0 0 0"),
        ("the whole pool is lost", f"zpool remove oak {SPARE}", "0.8 and newer", "same ashift"),
    ),
    "removal runs": (
        "device-removal",
        "info",
        status(
            *MIRROR,
            extra=(
                "remove: Evacuation of mirror-1 in progress since Sun Nov 22 10:00:00 2026",
                "\t1.20G copied out of 4.80G at 60M/s, 25.00% done, 0h1m to go",
            ),
        ),
        ("25.00 % done", "zpool remove -s oak"),
    ),
    "removal is slow": (
        "device-removal",
        "watch",
        status(
            *MIRROR,
            extra=(
                "remove: Evacuation of mirror-1 in progress since Sun Nov 22 10:00:00 2026",
                "\t1.20G copied out of 4.80T at 1/s, 0.03% done, (copy is slow, no estimated time)",
            ),
        ),
        ("slow",),
    ),
    "removal cancelled": (
        "device-removal",
        "info",
        status(*MIRROR, extra=("remove: Removal of mirror-1 canceled on Sun Nov 22 10:00:00 2026",)),
        ("stays in the pool",),
    ),
    "removal over": (
        "device-removal",
        "info",
        status(
            *MIRROR,
            extra=(
                "remove: Removal of vdev 1 copied 4.80G in 0h3m, completed on Sun Nov 22 10:00:00 2026",
                "\t12.0K memory used for removed device mappings",
            ),
        ),
        ("scrub the pool once", "zpool scrub oak"),
    ),
    "resilver cancelled": (
        "resilver-cancelled",
        "watch",
        status(*MIRROR, scan="resilver canceled on Sun Nov 22 10:00:00 2026"),
        ("misses part of its data", "zpool resilver oak", "zpool scrub oak"),
    ),
    "scrub paused": (
        "scrub-paused",
        "info",
        status(
            *MIRROR,
            scan="scrub paused since Sun Nov 22 10:00:00 2026\n\tscrub started on Sun Nov 22 09:00:00 2026\n\t1.00T / 2.00T scanned, 512G / 2.00T issued\n\t0B repaired, 25.00% done",
        ),
        ("2026-11-22", "25.00 %", "zpool scrub oak"),
    ),
    "block size by status": (
        "block-size-mismatch",
        "watch",
        status(
            "  mirror-0 ONLINE 0 0 0",
            "    sda ONLINE 0 0 0",
            "    sdb ONLINE 0 0 0  block size: 512B configured, 4096B native",
            status="One or more devices are configured to use a non-native block size.",
        ),
        ("sdb (block size: 512B configured, 4096B native)", "ashift"),
    ),
    "rebuilt": (
        "rebuild-unverified",
        "watch",
        status(
            *MIRROR,
            status="One or more devices have been sequentially resilvered, scrubbing\n\tthe pool is recommended.",
            scan="resilvered (mirror-0) 10.0G in 00:01:00 with 0 errors on Sun Nov 22 10:00:00 2026",
        ),
        ("checksums", "zpool scrub oak"),
    ),
    "errors not listed": (
        "errors-not-listed",
        "watch",
        status(*MIRROR, errors="List of errors unavailable: permission denied"),
        ("permission denied", "zpool status -v oak"),
    ),
    "errors not listed, of old": (
        "errors-not-listed",
        "watch",
        status(*MIRROR, errors="List of errors unavailable (insufficient privileges)"),
        ("insufficient privileges",),
    ),
    "scrub ended with errors": (
        "scrub-errors",
        "watch",
        status(*MIRROR, scan="scrub repaired 0B in 00:10:00 with 3 errors on Sun Nov 22 10:00:00 2026"),
        ("3 errors", "0 errors", "zpool scrub oak"),
    ),
    "scrub repaired": (
        "scrub-repaired",
        "info",
        status(*MIRROR, scan="scrub repaired 1,5M in 00:10:00 with 0 errors on Sun Nov 22 10:00:00 2026"),
        ("1,5M", "counters were cleared"),
    ),
    "expansion runs": (
        "expansion-running",
        "info",
        status(
            *RAIDZ2,
            extra=(
                "expand: expansion of raidz2-0-0 in progress since Sun Nov 22 10:00:00 2026",
                "\t1.20G / 4.80G copied at 60M/s, 25.00% done, 00:01:00 to go",
            ),
        ),
        ("25 % done", "cannot be cancelled"),
    ),
    "expansion past its end": (
        "expansion-stuck",
        "watch",
        status(
            *RAIDZ2,
            extra=(
                "expand: expansion of raidz2-0-0 in progress since Sun Nov 22 10:00:00 2026",
                "\t5.20G / 4.80G copied at 60M/s, 108.33% done, 00:00:00 to go",
            ),
        ),
        ("108.33 %",),
    ),
    "expansion waits": (
        "expansion-stuck",
        "watch",
        status(
            *RAIDZ2,
            extra=(
                "expand: expansion of raidz2-0-0 in progress since Sun Nov 22 10:00:00 2026",
                "\t1.20G / 4.80G copied at 60M/s, 25.00% done, paused for resilver or clear",
            ),
        ),
        ("waits until a resilver", "clear wipes the counters"),
    ),
    "checkpoint": (
        "checkpoint-held",
        "info",
        status(*MIRROR, extra=("checkpoint: created Sun Nov 22 10:00:00 2026, consumes 1.20G",)),
        ("replace", "zpool checkpoint -d oak"),
    ),
    "checkpoint going": ("checkpoint-held", "info", status(*MIRROR, extra=("checkpoint: discarding, 1.20G remaining.",)), ("Wait",)),
    "features": (
        "features-disabled",
        "info",
        status(
            *MIRROR,
            status="Some supported and requested features are not enabled on the pool.\n\tThe pool can still be used, but some features are unavailable.",
        ),
        ("nothing gets worse", "cannot be taken back"),
    ),
    "features, of 0.8": (
        "features-disabled",
        "info",
        status(*MIRROR, status="Some supported features are not enabled on the pool."),
        ("zpool upgrade oak",),
    ),
    "old format": (
        "features-disabled",
        "info",
        status(*MIRROR, status="The pool is formatted using a legacy on-disk format."),
        ("feature flags",),
    ),
    "compatibility": (
        "features-disabled",
        "info",
        status(*MIRROR, status="This pool has a compatibility list specified, but it could not be\n\tread/parsed at this time."),
        ("zpool get compatibility oak",),
    ),
}


@pytest.mark.parametrize("what", REASONS)
def test_each_reason_is_one_situation_that_says_what_to_do(what):
    slug, severity, text, lines = REASONS[what]
    one = only(text)
    assert (one.slug, one.severity) == (slug, severity)
    sentence = " ".join((words(one), *commands(one)))
    assert [word for word in lines if word not in sentence] == []


@pytest.mark.parametrize("what", REASONS)
def test_what_it_rests_on_stands_in_the_text(what):
    *_, text, _ = REASONS[what]
    shown = set(" ".join(text.split()).split(" "))
    for evidence in only(text).evidence:
        assert evidence.line
        assert set(evidence.line.split()) <= shown, evidence.line


@pytest.mark.parametrize("what", REASONS)
def test_no_command_names_a_disk_by_a_name_that_moves(what):
    moving = re.compile(r"(?:/dev/)?(?:sd[a-z]+|nvme[0-9]+n[0-9]+|da[0-9]+)[0-9p]*")
    for command in commands(only(REASONS[what][2])):
        assert not any(moving.fullmatch(word) for word in command.split()), command


@pytest.mark.parametrize("what", REASONS)
def test_what_clears_counters_says_what_is_lost_by_it(what):
    for cure in only(REASONS[what][2]).cures:
        if any("clear" in argv for argv in cure.argv):
            assert cure.save_first


@pytest.mark.parametrize(
    "text",
    [
        status(*MIRROR),
        status(*RAIDZ2, "logs", f"  {FAST} ONLINE 0 0 0", "cache", f"  {OTHER_FAST} ONLINE 0 0 0", "spares", f"  {SPARE} AVAIL"),
        status(f"  {SPARE} ONLINE 0 0 0", f"  {FAST} ONLINE 0 0 0"),
        status(*MIRROR, "special", "  mirror-1 ONLINE 0 0 0", f"    {FAST} ONLINE 0 0 0", f"    {OTHER_FAST} ONLINE 0 0 0"),
        status(*RAIDZ2, extra=("expand: expanded raidz2-0-0 copied 4.80G in 00:03:00, on Sun Nov 22 10:00:00 2026",)),
        status(*MIRROR, scan="resilvered 1.20T in 05:00:13 with 0 errors on Sun Nov 22 16:49:34 2026"),
        status(*MIRROR, scan="scrub canceled on Sun Nov 22 16:49:34 2026"),
        status(*MIRROR, scan=""),
    ],
)
def test_a_pool_that_is_well_raises_nothing(text):
    assert found(text) == []


def test_a_kernel_name_is_not_put_into_a_command_but_the_way_to_its_guid():
    one = only(
        status("  raidz1-0 ONLINE 0 0 0", "    sda ONLINE 0 0 0", "    sdb ONLINE 0 0 0", "    sdc ONLINE 0 0 0", "  sdd ONLINE 0 0 0")
    )
    assert commands(one)[:2] == ["zpool status -g oak", "zpool attach oak GUID /dev/disk/by-id/NEW_DISK"]
    assert "zpool status -g" in one.cures[0].needs


def test_errors_that_are_counted_and_not_listed_are_acted_upon():
    text = status(*MIRROR, errors="List of errors unavailable: permission denied\n\nerrors: 3 data errors, use '-v' for a list")
    lines = found(text)
    assert "3 data errors" in next(s.meaning for s in lines if s.slug == "errors-not-listed")
    assert [s.severity for s in lines].count("act") == 1


def test_a_spare_that_another_pool_of_the_text_holds_is_lent_and_not_unused():
    spare = f"  {SPARE} INUSE     currently in use"
    elm = status(
        "  mirror-0 DEGRADED 0 0 0",
        f"    {FAST} ONLINE 0 0 0",
        "    spare-1 DEGRADED 0 0 0",
        "      7276391939182292558 UNAVAIL 0 0 0  was /dev/disk/by-id/wwn-0x5000c500a65b207b-part1",
        f"      {SPARE} ONLINE 0 0 0",
        "spares",
        spare,
        pool="elm",
        state="DEGRADED",
    )
    names = {(s.slug, s.subject["pool"]) for s in found(status(*MIRROR, "spares", spare) + "\n" + elm)}
    assert ("spare-unavailable", "oak") in names
    assert not any(slug == "spare-unused" for slug, _ in names)


def test_a_lost_special_mirror_half_is_told_beside_its_member():
    text = status(
        *MIRROR, "special", "  mirror-1 DEGRADED 0 0 0", f"    {FAST} ONLINE 0 0 0", f"    {OTHER_FAST} REMOVED 0 0 0", state="DEGRADED"
    )
    one = next(s for s in found(text) if s.slug == "aux-without-redundancy")
    assert (one.severity, "Only nvme-ACME_X1_0001-part1" in one.meaning) == ("act", True)


def test_a_lost_log_of_a_pool_that_is_down_is_brought_back_and_nothing_else():
    text = status(
        "  mirror-0 ONLINE 0 0 0",
        "    sda ONLINE 0 0 0",
        "    sdb ONLINE 0 0 0",
        "logs",
        f"  {FAST} UNAVAIL 0 0 0  cannot open",
        state="FAULTED",
    )
    one = next(s for s in found(text) if s.slug == "log-device-lost")
    assert [cure.kind for cure in one.cures] == ["reseat", "online"]
    assert "bring this device back before" in one.meaning


def test_a_rebuild_that_a_scrub_follows_is_told_by_the_scrub():
    scan = "resilvered (mirror-0) 10.0G in 00:01:00 with 0 errors on Sun Nov 22 10:00:00 2026\n  scan: scrub in progress since Sun Nov 22 10:01:00 2026\n\t1.00G / 10.0G scanned at 100M/s, 500M / 10.0G issued at 50M/s\n\t0B repaired, 5.00% done, 00:03:00 to go"
    assert found(status(*MIRROR, scan=scan)) == []


def test_a_replacement_that_stays_over_a_cancelled_resilver_is_one_situation():
    text = status(
        "  mirror-0 ONLINE 0 0 0",
        f"    {FAST} ONLINE 0 0 0",
        "    replacing-1 ONLINE 0 0 0",
        f"      {OTHER_FAST} ONLINE 0 0 0",
        f"      {SPARE} ONLINE 0 0 0",
        scan="resilver canceled on Sun Nov 22 10:00:00 2026",
    )
    assert [s.slug for s in found(text)] == ["resilver-stuck"]


def test_an_expansion_that_waits_for_a_resilver_that_runs_is_waited_for():
    scan = "resilver in progress since Sun Nov 22 10:00:00 2026\n\t312G / 312G scanned, 5.78G / 312G issued at 1.45G/s\n\t524M resilvered, 1.85% done, 00:03:31 to go"
    expand = "expand: expansion of raidz2-0 in progress since Sun Nov 22 09:00:00 2026"
    figures = "\t44.4G / 312G copied at 52.7M/s, 14.26% done, paused for resilver or clear"
    one = next(s for s in found(status(*RAIDZ2, scan=scan, extra=(expand, figures))) if s.slug == "expansion-stuck")
    assert one.cures[0].kind == "wait"
    assert not any(cure.kind == "clear" for cure in one.cures)


def test_a_suspension_is_told_by_why_the_damage_cannot_be_listed_and_not_by_the_name_of_a_file():
    why = status(*MIRROR, errors="List of errors unavailable: pool I/O is currently suspended")
    named = status(*MIRROR, errors="Permanent errors have been detected in the following files:\n\n        /oak/suspended")
    assert [s.slug for s in found(why)] == ["pool-suspended"]
    assert [s.slug for s in found(named)] == ["data-errors"]


def test_a_resilver_is_told_though_a_line_elsewhere_was_not_understood():
    scan = "resilver in progress since Sun Nov 22 10:00:00 2026\n\t312G / 312G scanned, 5.78G / 312G issued at 1.45G/s\n\t524M resilvered, 1.85% done, 00:03:31 to go"
    names = {s.slug for s in found(status(*RAIDZ2, scan=scan, extra=("polish: half of it",)))}
    assert names == {"resilver-running", "unexplained"}


@pytest.mark.parametrize("figures", ["14.26% done, paused for resilver or clear", "14.26% done, 01:00:00 to go"])
def test_an_expansion_with_a_lost_member_says_to_replace_it_before_it_says_to_wait(figures):
    """It moves nothing until the member is back: who only waits, waits for ever."""
    expand = ("expand: expansion of raidz2-0 in progress since Sun Nov 22 09:00:00 2026", f"\t44.4G / 312G copied at 52.7M/s, {figures}")
    rows = (RAIDZ2[0].replace("ONLINE", "DEGRADED"), RAIDZ2[1].replace("ONLINE", "FAULTED"), *RAIDZ2[2:])
    one = next(s for s in found(status(*rows, state="DEGRADED", extra=expand)) if s.slug.startswith("expansion-"))
    assert one.cures[0].kind == "replace"
    assert not any(cure.kind == "clear" for cure in one.cures)
