"""Whole posts about pools: titles and prose around the outputs, outputs that end within a line, several outputs of one pool."""

from __future__ import annotations

import pytest

from workflows.triage import triage


def read(text: str):
    return triage([("p", text)])


def found(text: str) -> list[tuple[str, str]]:
    return [(each.slug, each.severity) for each in read(text).situations]


def outcomes(text: str) -> list[tuple[str, str]]:
    return [(each.outcome, each.source) for each in read(text).reads if each.outcome != "left out"]


def named(text: str) -> set[str]:
    return {pool.name for node in read(text).fleet.nodes.values() for pool in node.pools_read}


def status(pool: str, *, scan: str = "  scan: scrub repaired 0B in 01:02:03 with 0 errors on Sun Nov  8 01:26:04 2026\n") -> str:
    return (
        f"  pool: {pool}\n state: ONLINE\n{scan}config:\n\n\tNAME                        STATE     READ WRITE CKSUM\n\t{pool:27} ONLINE       0     0     0\n"
        f"\t  mirror-0                  ONLINE       0     0     0\n\t    wwn-0x5000c500c0ff{ord(pool[0]):02x}01  ONLINE       0     0     0\n"
        f"\t    wwn-0x5000c500c0ff{ord(pool[0]):02x}02  ONLINE       0     0     0\n\nerrors: No known data errors\n"
    )


# A pool that is in a list, beside the tree of another one

LIST = (
    "root@nas:~# zpool list\nNAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n"
    "heron  10.9T  3.21T  7.69T        -         -     2%    29%  1.00x    ONLINE  -\n"
    "stork  7.25T  1.10T  6.15T        -         -     1%    15%  1.00x    ONLINE  -\n"
)
SCRIPTED = (
    "root@nas:~# zpool list -H -p\nheron\t11988889632768\t3529361784832\t8459527847936\t-\t-\t2\t29\t1.00\tONLINE\t-\n"
    "stork\t7971459301376\t1209462790144\t6761996511232\t-\t-\t1\t15\t1.00\tONLINE\t-\n"
)
DATASETS = (
    "root@nas:~# zfs list\nNAME          USED  AVAIL     REFER  MOUNTPOINT\nheron        3.21T  7.50T       96K  /heron\n"
    "heron/home   3.20T  7.50T     3.20T  /heron/home\nstork        1.10T  6.00T     1.10T  /stork\n"
)
PROPERTIES = "root@nas:~# zpool get health\nNAME   PROPERTY  VALUE   SOURCE\nheron  health    ONLINE  -\nstork  health    ONLINE  -\n"


@pytest.mark.parametrize("listing", [LIST, SCRIPTED, DATASETS, PROPERTIES])
def test_a_pool_that_is_only_in_a_list_is_not_known(listing: str) -> None:
    beside = read(f"{listing}root@nas:~# zpool status heron\n{status('heron')}")
    assert not beside.good
    assert [why for why in beside.not_good_because if "stork" in why and "not known" in why]
    assert not [why for why in beside.not_good_because if "heron" in why]


@pytest.mark.parametrize("listing", [LIST, SCRIPTED, DATASETS, PROPERTIES])
def test_with_the_tree_of_each_listed_pool_nothing_is_missing(listing: str) -> None:
    assert read(f"{listing}root@nas:~# zpool status\n{status('heron')}\n{status('stork')}").not_good_because == ()


def test_a_list_under_a_prompt_and_a_tree_without_one_are_of_one_host() -> None:
    assert not [why for why in read(f"{LIST}\n\n{status('heron')}\n{status('stork')}").not_good_because if "is in a list" in why]


# Titles of posts in Markdown


@pytest.mark.parametrize(
    "title",
    [
        "zpool status does not show which of the disks was repaired",
        "zpool half gone after a storm",
        "zpool missing",
        "zfs status command fails",
        "all members marked as degraded after a scrub",
        "label is not found or invalid after the upgrade",
        "zpool scrub / status tell nothing of [write?] errors to a disk",
    ],
)
def test_a_title_is_no_command(title: str) -> None:
    post = read(
        f"# {title}\n\nkim · description · 2026-01-02\nI scrubbed it twice and wonder what this means for my data.\n\n```\n{status('heron')}```\n"
    )
    assert [each.command for each in post.reads if each.command] == []
    assert post.not_good_because == ()


@pytest.mark.parametrize(
    "command", ["zpool status heron", "zpool status a", "sudo zpool status", "zpool status -v -P", "cat /proc/spl/kstat/zfs/heron/state"]
)
def test_a_command_of_root_is_one(command: str) -> None:
    assert [each.command for each in read(f"# {command}\n{status('heron')}").reads if each.command] == [command.removeprefix("sudo ")]


def test_a_word_that_is_no_subcommand_is_refused_as_one_is() -> None:
    assert found("# zpool stauts\nunrecognized command 'stauts'\nusage: zpool command args ...\n")[0][0] == "refused-command"


# Around the outputs


def test_lone_back_quotes_around_an_output_are_no_rows() -> None:
    assert read(f"Legacy ZFS shows it so:\n`\n% zpool status\n{status('heron')}`\n\n`\n% uname\nFreeBSD\n`\n").not_good_because == ()


def test_a_tag_with_attributes_between_outputs_ends_no_output() -> None:
    text = read(f'{status("heron")}<br style="line-height: 1.5;"><br style="line-height: 1.5;">\n{status("stork")}')
    assert (named(f'{status("heron")}<br style="x">\n{status("stork")}'), text.not_good_because) == ({"heron", "stork"}, ())


TWO_LINES = (
    "[~by-id]-[root@vole]-[1]-[17]\n[:(] # zpool import -d /dev/disk/by-id\n   pool: heron\n     id: 4242424242424242424\n  state: UNAVAIL\n"
    " status: One or more devices contains corrupted data.\n action: The pool cannot be imported due to damaged devices or data.\n config:\n\n"
    "\theron                    UNAVAIL  insufficient replicas\n\t  mirror-0               UNAVAIL  insufficient replicas\n"
    "\t    1111111111111111111  UNAVAIL\n\t    ata-DISK_B2          UNAVAIL\n[~by-id]-[root@vole]-[1]-[18]\n[:(] # ls\nata-DISK_B1  ata-DISK_B1-part1  ata-DISK_B2\nata-DISK_B2-part1\n"
)


def test_what_stands_behind_the_same_prompt_is_a_command_and_no_row() -> None:
    assert outcomes(TWO_LINES) == [("read", "zpool_import")]
    assert [slug for slug, _ in found(TWO_LINES)] == ["import-blocked"]


def test_a_command_goes_on_behind_a_backslash() -> None:
    text = f"root@nas:~# zpool status -P \\\n    -p \\\n    heron\n{status('heron')}"
    assert (outcomes(text), read(text).not_good_because) == ([("read", "zpool_status")], ())


# Outputs that end within a line


@pytest.mark.parametrize(
    "end",
    ["config", "erro", "  scan: scrub repaired 0B in 01:02:03 with 0", "  scan: resilvered 4.2T in 1 days 02:03", "config:\n\n        NA"],
)
def test_a_last_line_that_is_cut_within_is_not_unexplained(end: str) -> None:
    text = f"root@nas:~# zpool status\n  pool: heron\n state: ONLINE\n{end}\n"
    assert "unexplained" not in {slug for slug, _ in found(text)}
    assert not read(text).good


def test_a_cut_scan_that_counted_errors_keeps_them() -> None:
    text = "root@nas:~# zpool status\n  pool: heron\n state: ONLINE\n  scan: scrub repaired 0B in 01:02:03 with 7 errors on Su\n"
    assert [slug for slug, _ in found(text)] != []


def test_a_tree_without_config_that_is_cut_in_its_second_row_is_not_unexplained() -> None:
    text = (
        "  pool: heron\n state: DEGRADED\n  scan: resilver in progress since Fri Jan 16 16:29:06 2026\n        144G scanned out of 5.07T at 538M/s, 2h40m to go\n"
        "        24.0G resilvered, 2.77% done\n\nNAME                       STATE     READ WRITE CKSUM\nheron                      DEGRADED     0     0     0\n  raidz2-0                 DEGRA\n"
    )
    assert found(text) == [("resilver-running", "watch")]


LEFT_OUT = (
    "  pool: heron\n state: DEGRADED\n  scan: resilvered 1.19T in 12h36m with 63 errors on Sun Aug 16 18:45:29 2026\nconfig:\n\n"
    "\tNAME                          STATE     READ WRITE CKSUM\n\n...\n\t  mirror-9                    DEGRADED     0     0   132\n"
    "\t    replacing-0               DEGRADED   132     0     0\n\t      wwn-0x5000c500c0ffee01  OFFLINE      0     0     0\n"
    "\t      wwn-0x5000c500c0ffee02  ONLINE       0     0   132\n\t    wwn-0x5000c500c0ffee03    ONLINE       0     0   132\n"
)


def test_dots_in_place_of_the_first_rows_part_no_tree() -> None:
    (pool,) = read(LEFT_OUT).fleet.nodes["pasted"].pools_read
    tops = [top for _, top in pool.tops_read]
    assert [(top.name, [child.name for child in top.children]) for top in tops] == [("mirror-9", ["replacing-0", "wwn-0x5000c500c0ffee03"])]
    assert ("resilver-stuck", "act") in found(LEFT_OUT)
    assert "unexplained" not in {slug for slug, _ in found(LEFT_OUT)}


# Several outputs of one pool

FAULTED = (
    "  pool: heron\n state: DEGRADED\nstatus: One or more devices are faulted in response to persistent errors.\n\tSufficient replicas exist for the pool to continue functioning in a\n"
    "\tdegraded state.\naction: Replace the faulted device, or use 'zpool clear' to mark the device\n\trepaired.\n"
)
TREE = (
    "config:\n\n\tNAME                        STATE     READ WRITE CKSUM\n\theron                       DEGRADED     0     0     0\n"
    "\t  mirror-0                  DEGRADED     0     0     0\n\t    wwn-0x5000c500c0ffee01  ONLINE       0     0     0\n"
    "\t    wwn-0x5000c500c0ffee02  FAULTED      3    12     0  too many errors\n"
)


def test_a_later_output_without_rows_hides_no_member_of_the_earlier_one() -> None:
    text = f"{FAULTED}{TREE}\nLater it still said the same of this pool:\n\n{FAULTED}"
    assert [slug for slug, _ in found(text)] == ["disk-missing"]


def test_a_later_output_without_rows_counts_where_it_is_worse() -> None:
    text = f"root@nas:~# zpool status\n{status('heron')}\nroot@nas:~# zpool status\n{FAULTED}"
    assert ("vdev-degraded", "act") in found(text)
    assert not read(text).good


# Words of the tools


def test_a_tool_that_stops_at_its_own_check_is_refused_and_no_line_of_the_pool() -> None:
    text = (
        "root@nas:~# zpool status\n  pool: heron\n state: ONLINE\nzpool: ../../cmd/zpool/zpool_main.c:3652: status_callback: Assertion `reason == 7' failed.\n"
        "Aborted (core dumped)\nroot@nas:~#\n"
    )
    assert [slug for slug, _ in found(text)] == ["refused-command"]
    assert not read(text).good


@pytest.mark.parametrize("words", ["failed to read pool configuration: bad address", "cannot discover pools: permission denied"])
def test_an_import_that_cannot_list_is_refused(words: str) -> None:
    assert found(f"root@nas:~# zpool import\n{words}\n") == [("refused-command", "watch")]


WALK = (
    "root@nas:~# zdb -e -c -p /dev/mapper/ heron\n\nTraversing all blocks to verify metadata checksums and verify nothing leaked ...\n\n"
    "loading concrete vdev 0, metaslab 127 of 128 ...\n 370M completed ( 375MB/s) estimated time remaining: 0hr 47min 57sec        zdb_blkptr_cb: Got error 52 reading <54, 0, -1, 0>  -- skipping\n"
    "1.02T completed (19398MB/s) estimated time remaining: 0hr 00min 00sec\nError counts:\n\n        errno  count\n           52  1\nleaked space: vdev 0, offset 0x0, size 8192\n"
)


def test_a_walk_over_a_pool_that_is_not_imported_is_read() -> None:
    assert outcomes(WALK) == [("read", "zdb_objects")]
    assert [each.title for each in read(WALK).situations] == [
        "zdb could not read all that it was asked for",
        "zdb counts space that belongs to nothing, or a count that does not fit",
    ]


def test_a_check_of_zdb_among_other_words_is_read_as_refused() -> None:
    text = "# zdb -e heron -t 20101506 # ub 2\n…\nidx + slots <= DNODES_PER_BLOCK (0x66 <= 0x20)\nASSERT at ../../module/zfs/dnode.c:1086:dnode_set_slots()Aborted (core dumped)\n"
    assert outcomes(text) == [("read", "refused")]


def test_a_disk_of_solaris_is_no_pool() -> None:
    text = "    mirror            DEGRADED\nc1t0d0             ONLINE\nc1t1d0             UNAVAIL\n\n    raidz1              UNAVAIL\nc2t0d0              ONLINE\nc3t0d0              UNAVAIL\n"
    assert not [each for each in read(text).situations if each.slug == "pool-down" and each.title.startswith("c")]


def test_rows_of_dashes_list_no_pool_and_are_not_understood() -> None:
    text = "$ zpool list\nNAME   SIZE  ALLOC   FREE    CAP  DEDUP  HEALTH  ALTROOT\n-         -      -      -      -      -       -  -\n-         -      -      -      -      -       -  -\n"
    assert outcomes(text) == [("partly", "zpool_list_text")]
    assert not read(text).good


@pytest.mark.parametrize(
    ("section", "expected"),
    [("logs", ("log-device-lost", "watch")), ("cache", ("cache-device-lost", "watch")), ("special", ("vdev-degraded", "act"))],
)
def test_a_list_with_vdevs_says_of_what_the_lost_one_is(section: str, expected: tuple[str, str]) -> None:
    text = (
        "$ zpool list -v heron\nNAME            SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n"
        "heron          9.08T  2.77T  6.31T        -         -     9%    30%  1.00x  DEGRADED  -\n"
        "  mirror-0     9.08T  2.77T  6.31T        -         -     9%    30%      -    ONLINE\n    sdc2       9.09T      -      -        -         -      -      -      -    ONLINE\n"
        f"    sdd2       9.09T      -      -        -         -      -      -      -    ONLINE\n{section}              -      -      -        -         -      -      -      -         -\n"
        "  sdb1         16.5G   384K  16.5G        -         -     0%     0%      -   UNAVAIL\n"
    )
    assert found(text) == [expected]
    assert "sdb1" in read(text).situations[0].title


@pytest.mark.parametrize("command", ["zpool status", "zpool import"])
def test_a_reason_that_is_cut_within_its_first_words_is_not_unexplained(command: str) -> None:
    number = "     id: 4242424242424242\n" if command.endswith("import") else ""
    text = f"root@nas:~# {command}\n   pool: heron\n{number}  state: DEGRADED\n status: One or more devices are mis\n"
    assert not [each for each in read(text).situations if each.slug == "unexplained"]
    assert not read(text).good


def test_a_reason_in_other_words_stays_unexplained() -> None:
    text = "root@nas:~# zpool status\n  pool: heron\n state: DEGRADED\nstatus: One or more devices are misaligned with the moon\n"
    assert "unexplained" in {slug for slug, _ in found(text)}


def test_a_pool_that_is_listed_as_degraded_without_its_rows_lacks_a_disk() -> None:
    text = "root@nas:~# zpool import\n   pool: heron\n     id: 4242424242424242\n  state: DEGRADED\n status: One or more devices are unavailable.\n"
    (only,) = read(text).situations
    assert (only.slug, only.severity) == ("import-blocked", "watch")
    assert [cure.kind for cure in only.cures] == ["reseat", "import"]
    assert "which disk it lacks is not known" in only.meaning


def test_rows_with_slow_ios_and_nothing_above_them_have_no_word_that_is_not_explained() -> None:
    text = (
        "\tNAME         STATE     READ WRITE CKSUM DELAY\n\theron        ONLINE       0     0     0     -\n\t  mirror-0   ONLINE       0     0     0     -\n"
        "\t    loop0    ONLINE       0     0     0    20\n\t    loop1    ONLINE       0     0     0     0\n"
    )
    assert found(text) == [("slow-ios", "watch")]


def test_an_expansion_in_the_words_of_its_first_builds_is_explained() -> None:
    text = status("heron").replace(
        "config:",
        "raidz expand: Expansion of vdev 0 in progress since Sun Sep 27 14:46:40 2026\n\t1.00T copied out of 1.00T at 5.23M/s, 100.00% done, 0h0m to go\nconfig:",
    )
    assert [slug for slug, _ in found(text)] == ["expansion-running"]


TABLE = (
    "Nightly report:\n\n| Pool | Size | Used | Health | Fragmentation |\n|------|------:|:----|--------|---------------|\n"
    "| heron | 10.9T | 3.21T | ONLINE | 2% |\n| `stork` | 7.25T | 6.90T | **DEGRADED** | 51% |\n"
)


def test_a_table_of_pools_is_read() -> None:
    assert outcomes(TABLE) == [("read", "pool_table")]
    assert [(each.slug, each.severity, each.subject["pool"]) for each in read(TABLE).situations] == [("vdev-degraded", "act", "stork")]
    well = read(TABLE.replace("**DEGRADED**", "ONLINE"))
    assert (well.situations, well.good) == ((), False)


def test_a_row_of_a_table_in_other_words_is_named() -> None:
    assert outcomes(TABLE + "| crane | 1T | 0 | so so | 1% |\n") == [("partly", "pool_table")]


@pytest.mark.parametrize("heading", ["Disk", "Dataset", "Host", "Resource pool"])
def test_a_table_of_something_else_is_no_table_of_pools(heading: str) -> None:
    assert outcomes(TABLE.replace("| Pool |", f"| {heading} |")) != [("read", "pool_table")]


def test_a_pool_of_a_table_beside_the_tree_of_another_is_not_known() -> None:
    text = TABLE.replace("**DEGRADED**", "ONLINE") + f"\n```\n{status('heron')}```\n"
    assert [why for why in read(text).not_good_because if "stork" in why]


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("Disk 4 of volume vol1 failed, data not recovered", True),
        ("Pool heron is degraded, not yet resolved", True),
        ("Disk 4 of volume vol1 failed, data recovered", False),
        ("Pool heron was degraded, resolved", False),
    ],
)
def test_what_is_not_over_is_no_denial(line: str, stated: bool) -> None:
    assert bool(read(line).situations) is stated


def lost(name: str) -> str:
    return (
        "  pool: heron\n state: DEGRADED\nstatus: One or more devices could not be used because the label is missing or\n\tinvalid.  Sufficient replicas exist for the pool to continue\n"
        "\tfunctioning in a degraded state.\naction: Replace the device using 'zpool replace'.\n  scan: scrub repaired 0B in 01:02:03 with 0 errors on Sun Nov  8 01:26:04 2026\nconfig:\n\n"
        "\tNAME                     STATE     READ WRITE CKSUM\n\theron                    DEGRADED     0     0     0\n\t  mirror-0               DEGRADED     0     0     0\n"
        f"\t    wwn-0x5000c500aa01   ONLINE       0     0     0\n\t    4242424242424242424  UNAVAIL      0     0     0  was {name}\n\nerrors: No known data errors\n"
    )


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("/dev/sdb1", ["look", "reseat", "online", "replace"]),
        ("/dev/ada3p2", ["look", "reseat", "online", "other", "replace"]),
        ("/dev/nvme0n1p1", ["look", "reseat", "online", "replace"]),
        ("/dev/disk/by-id/wwn-0x5000c500aa02-part1", ["reseat", "online", "replace"]),
    ],
)
def test_of_a_member_under_a_name_of_one_boot_its_disk_is_looked_for_under_others_first(name: str, kinds: list[str]) -> None:
    (member,) = (each for each in read(lost(name)).situations if each.slug == "disk-missing")
    assert [cure.kind for cure in member.cures] == kinds
    assert ("under another name" in member.cures[0].text) is (kinds[0] == "look")
