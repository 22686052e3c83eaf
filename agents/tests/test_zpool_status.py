import time

import pytest

from agents.collectors import zpool_status_guid
from agents.collectors.base import Unparsed
from agents.collectors.zpool_status import Pool, Scan, Vdev, collect, parse
from agents.host.host import Ran
from agents.tests.scenarios import STEPS, step, texts

PLAIN = ("-", "-v", "-s", "-P", "-gv", "-gLP", "-LPv", "-t", "-i", "-D")
GENUINE = [(name, text) for name, text in texts("zpool-status*.txt") if name.rsplit("/zpool-status", 1)[1].split(".")[0] in ("", *PLAIN)]
BOTH_NAMES = [s for s in STEPS if (step(s) / "zpool-status-P.txt").exists()]


def status(name: str, which: str = "-P") -> tuple[Pool, ...]:
    pools = parse((step(name) / f"zpool-status{which}.txt").read_text())
    assert not isinstance(pools, Unparsed), pools
    return pools


def rows(vdev: Vdev, depth: int = 0) -> list[tuple[int, Vdev]]:
    return [(depth, vdev)] + [row for child in vdev.children for row in rows(child, depth + 1)]


def leaves(pool: Pool) -> list[Vdev]:
    return [vdev for _, vdev in rows(pool.vdevs) if not vdev.children]


@pytest.mark.parametrize(("name", "text"), GENUINE, ids=[name for name, _ in GENUINE])
def test_it_reads_a_genuine_capture(name, text):
    pools = parse(text)
    assert not isinstance(pools, Unparsed), pools
    printed = [line for line in text.split("\n") if line.startswith("\t") and not line.startswith("\tNAME") and line.split()[1:2] != []]
    printed = [line for line in printed if line.split()[1] in ("ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "REMOVED", "UNAVAIL", "AVAIL")]
    read = [vdev for pool in pools for top in (pool.vdevs, *(v for _, vs in pool.sections for v in vs)) for _, vdev in rows(top)]
    assert [line.split()[:2] for line in printed] == [[vdev.name, vdev.state] for vdev in read]


@pytest.mark.parametrize("name", BOTH_NAMES)
def test_the_tree_by_name_and_the_tree_by_guid_have_one_shape(name):
    by_name, by_guid = status(name), status(name, "-gLP")
    assert [pool.name for pool in by_name] == [pool.name for pool in by_guid]
    for a, b in zip(by_name, by_guid):
        assert [depth for depth, _ in rows(a.vdevs)] == [depth for depth, _ in rows(b.vdevs)]
        assert [heading for heading, _ in a.sections] == [heading for heading, _ in b.sections]
        # The two commands ran a second apart: only a leaf that was changing then may differ.
        assert sum(x.state != y.state for (_, x), (_, y) in zip(rows(a.vdevs), rows(b.vdevs))) <= 3
        assert all(vdev.name.isdigit() for _, vdev in rows(b.vdevs)[1:])


def test_guids_are_read_by_the_same_parser():
    assert zpool_status_guid.parse is parse


def test_it_says_where_an_absent_leaf_was_and_who_is_there_now():
    (pool,) = status("wwid-drift/4-import-d-dev")
    (raidz,) = pool.vdevs.children
    absent = raidz.children[2]
    assert (absent.name, absent.state, absent.was) == ("16127029951090533777", "FAULTED", "/dev/sdc1")
    assert (raidz.children[4].name, raidz.children[4].state) == ("/dev/sdc1", "ONLINE")
    assert pool.see.endswith("ZFS-8000-4J")
    assert pool.status.startswith("One or more devices could not be used because the label is missing or invalid.")
    assert pool.scans[0].function == "scrub"
    assert (pool.scans[0].state, pool.scans[0].percent, pool.scans[0].eta) == ("running", "2.39", "no estimated completion time")


def test_it_nests_replacing_and_marks_who_resilvers():
    (pool,) = status("disk-removed/7-resilver-later")
    replacing = pool.vdevs.children[0].children[2]
    assert replacing.name == "replacing-2"
    old, new = replacing.children
    assert (old.state, old.resilvering) == ("REMOVED", False)
    assert (new.state, new.resilvering) == ("ONLINE", True)
    assert pool.scans[0].function == "resilver"


def test_it_keeps_sections_apart_from_data():
    (pool,) = status("healthy-mixed")
    assert [vdev.name for vdev in pool.vdevs.children] == ["mirror-0", "mirror-1"]
    sections = dict(pool.sections)
    assert list(sections) == ["special", "logs", "spares"]
    assert [vdev.name for vdev in sections["special"]] == ["mirror-2"]
    assert len(sections["special"][0].children) == 2
    assert (sections["spares"][0].state, sections["spares"][0].errors) == ("AVAIL", None)


def test_it_reads_sixty_disks():
    (pool,) = status("sixty-disks/2-one-removed")
    assert [len(top.children) for top in pool.vdevs.children] == [12] * 5
    assert [leaf.name for leaf in leaves(pool) if leaf.state != "ONLINE"] == ["/dev/disk/by-id/wwn-0x5000c500a65b225b-part1"]


def test_it_reads_a_suspended_pool():
    (pool,) = status("mmp-suspended/2-suspended")
    assert (pool.state, pool.vdevs.state) == ("SUSPENDED", "ONLINE")


def test_it_reads_the_slow_column_and_leaves_the_dashes():
    (pool,) = status("slow-disk/2-after", "-s")
    assert pool.vdevs.slow is None
    assert all(leaf.slow is not None for leaf in leaves(pool))


def test_damaged_files_belong_to_the_errors():
    (pool,) = status("permanent-errors-files/1-files", "-v")
    assert "/mnt/oss/with space" in pool.errors


def test_a_member_that_slipped_below_the_damaged_files_is_refused():
    row = "\t  sdq       FAULTED      0     0     0"
    text = made_up() + f"        /tank/a:b is damaged\n{row}\n"
    assert parse(text) == Unparsed("a row of the vdev tree stands outside of it", row.strip())


class Node:
    """Answers every command with one text, and has one version of the module."""

    def __init__(self, version: str | None, stdout: bytes = b"no pools available\n", stderr: bytes = b"") -> None:
        self.version, self.stdout, self.stderr, self.asked = version, stdout, stderr, ()

    def read(self, path):
        if self.version is None:
            raise FileNotFoundError(path)
        return self.version.encode() + b"\n"

    def run(self, argv, timeout_seconds):
        self.asked = tuple(argv)
        return Ran(self.asked, 0, self.stdout, self.stderr, 0.1)


@pytest.mark.parametrize(
    ("version", "exact"), [("0.7.13-1", False), ("v0.6.5.9-5ubuntu4", False), ("0.8.0-1", True), ("2.3.2-1", True), (None, True)]
)
def test_it_asks_for_whole_counters_where_the_version_can(version, exact):
    node = Node(version)
    collect(node)
    assert node.asked == ("zpool", "status", "-P", *(["-p"] if exact else []))


@pytest.mark.parametrize(
    ("stdout", "stderr", "outcome"),
    [
        (b"no pools available\n", b"", "data"),
        (b"", b"no pools available\n", "data"),
        (b"", b"", "failed"),
        (b"", b"internal error\n", "failed"),
    ],
)
def test_silence_alone_is_no_answer(stdout, stderr, outcome):
    (capture,) = collect(Node("2.1.11-1", stdout, stderr))
    assert capture.outcome == outcome


def test_no_pools_is_an_answer_and_silence_parses_as_none():
    assert parse("no pools available\n") == ()
    assert parse("") == ()


DEGRADED = (step("wwid-drift/4-import-d-dev") / "zpool-status-P.txt").read_text()


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("/dev/sda1             ONLINE       0     0     0", "/dev/sda1             ONLINE       0  1.2K     0"),
        ("/dev/sda1             ONLINE       0     0     0", "/dev/sda1             ONLINE       0     0     0K"),
        ("/dev/sda1             ONLINE       0     0     0", "/dev/sda1             ONLINE       0     0"),
        ("/dev/sda1             ONLINE       0     0     0", "/dev/sda1             ONLINE       -     0     0"),
        ("/dev/sda1             ONLINE", "/dev/sda1             ONLlNE"),
        ("    /dev/sda1", "   /dev/sda1"),
        ("    /dev/sda1", "      /dev/sda1"),
        ("\tost_1                     DEGRADED", "\tost_2                     DEGRADED"),
        (" state: DEGRADED", " state: DEGRADE"),
        ("  scan: scrub in progress", "  scam: scrub in progress"),
        ("  scan: scrub in progress", "  scan: scrub in regress"),
        ("READ WRITE CKSUM", "READ WRITE CKSUM  WORTH"),
        ("errors: No known data errors", ""),
        (", 2.39% done", ""),
    ],
)
def test_it_refuses_what_it_would_have_to_guess(good, bad):
    assert good in DEGRADED
    assert isinstance(parse(DEGRADED.replace(good, bad)), Unparsed)


def test_whole_counters_are_read_as_they_are():
    (pool,) = parse(
        DEGRADED.replace("/dev/sda1             ONLINE       0     0     0", f"/dev/sda1             ONLINE  1210 {2**64 - 1} 3")
    )
    assert pool.vdevs.children[0].children[1].errors == (1210, 2**64 - 1, 3)


# Made up from the format strings of the named versions; what they print elsewhere in the tree is as in the captures.
MADE_UP = """\
  pool: big
 state: DEGRADED
status: One or more devices is currently being resilvered.  The pool will
\tcontinue to function, possibly in a degraded state.
action: Wait for the resilver to complete.
  scan: {scan}
config:

\tNAME                        STATE     READ WRITE CKSUM{columns}
\tbig                         DEGRADED     0     0     0{dashes}
\t  raidz2-0                  DEGRADED     0     0     0{dashes}
\t    ada5p1                  ONLINE       0     0     0{numbers}
\t    replacing-1             UNAVAIL      0     0     0{dashes}
\t      12961486373923024570  UNAVAIL      0     0     0{numbers}  was /dev/ada6p1/old
\t      ada6p1                ONLINE       0     0     0{numbers}  block size: 512B configured, 4096B native  (resilvering)
\t    spare-2                 DEGRADED     0     0     3{dashes}
\t      gpt/bay 7               FAULTED     12     0     3{numbers}  too many errors
\t      gpt/bay9                ONLINE       0     0     0{numbers}  (awaiting resilver)
\tlogs
\t  mirror-1                  ONLINE       0     0     0{dashes}
\t    nda0p1                  ONLINE       0     0     0{numbers}
\t    nda1p1                  ONLINE       0     0     0{numbers}
\tcache
\t  nda2                      ONLINE       0     0     0{numbers}
\tspares
\t  gpt/bay9                  INUSE     currently in use

errors: No known data errors
"""


def made_up(scan: str = "none requested", columns: str = "", dashes: str = "", numbers: str = "") -> str:
    text = MADE_UP.replace("{scan}", scan).replace("{columns}", columns).replace("{dashes}", dashes).replace("{numbers}", numbers)
    return text.replace("gpt/bay 7  ", "gpt/bay7   ")


@pytest.mark.parametrize(
    ("columns", "dashes", "numbers", "slow"),
    [
        ("", "", "", None),
        ("  SLOW", "     -", "     4", 4),
        ("  SLOW  POWER", "     -      -", "     4     on", 4),
        ("   DIO", "     -", "     0", None),
        ("  SLOW  POWER   DIO", "     -      -     -", "     4     on     0", 4),
    ],
)
def test_it_reads_other_systems_names_and_every_column(columns, dashes, numbers, slow):
    (pool,) = parse(made_up(columns=columns, dashes=dashes, numbers=numbers))
    raidz = pool.vdevs.children[0]
    old, new = raidz.children[1].children
    assert old.was == "/dev/ada6p1/old"
    assert (new.resilvering, new.awaiting_resilver, new.slow) == (True, False, slow)
    bad, spare = raidz.children[2].children
    assert (bad.errors, bad.note) == ((12, 0, 3), "too many errors")
    assert (spare.resilvering, spare.awaiting_resilver) == (False, True)
    sections = dict(pool.sections)
    assert [leaf.name for leaf in sections["logs"][0].children] == ["nda0p1", "nda1p1"]
    assert (sections["spares"][0].state, sections["spares"][0].note) == ("INUSE", "currently in use")


def test_a_missing_extra_column_is_refused():
    assert isinstance(parse(made_up(columns="  SLOW", dashes="     -")), Unparsed)


@pytest.mark.parametrize(
    ("lines", "scan"),
    [
        ("none requested", Scan("none", "none", "none requested")),
        (
            "resilver in progress since Sat Mar  9 21:18:02 2019\n    248G scanned out of 2.84T at 57.1M/s, 13h14m to go\n"
            "    49.4G resilvered, 8.53% done",
            Scan("resilver", "running", "", "8.53", eta="13h14m"),
        ),
        (
            "scrub in progress since Sat Mar  9 21:18:02 2019\n    1.2G scanned out of 2.84T at 57.1K/s, (scan is slow, no estimated time)\n"
            "    0 repaired, 0.04% done",
            Scan("scrub", "running", "", "0.04", eta="no estimated time"),
        ),
        (
            "resilver in progress since Sat Mar  9 21:18:02 2019\n\t2.1T scanned at 1.1G/s, 1.9T issued at 620M/s, 5.7T total\n"
            "\t120G resilvered, 34.02% done, 0 days 01:48:31 to go",
            Scan("resilver", "running", "", "34.02", eta="0 days 01:48:31"),
        ),
        (
            "resilver (draid2:4d:8c:1s-0) in progress since Sat Mar  9 21:18:02 2024\n\t2.1T / 5T scanned at 1.1G/s, 1.9T / 5T issued at 620M/s\n"
            "\t120G resilvered, 104.02% done, 2 days 15:22:54 to go",
            Scan("rebuild", "running", "", "104.02", eta="2 days 15:22:54"),
        ),
        ("resilvered 580G in 16h55m with 0 errors on Tue Mar 12 02:11:00 2019", Scan("resilver", "finished", "", errors=0)),
        ("resilvered 580G in 0 days 16:55:00 with 5 errors on Tue Mar 12 02:11:00 2019", Scan("resilver", "finished", "", errors=5)),
        ("resilvered (mirror-1) 5G in 00:01:11 with 0 errors on Tue Mar 12 02:11:00 2024", Scan("rebuild", "finished", "", errors=0)),
        ("scrub repaired 0 in 5h41m with 0 errors on Tue Mar 12 02:11:00 2019", Scan("scrub", "finished", "", errors=0)),
        ("resilver canceled on Tue Mar 12 02:11:00 2019", Scan("resilver", "canceled", "")),
        (
            "scrub paused since Tue Mar 12 02:11:00 2019\n\tscrub started on Tue Mar 12 01:11:00 2019\n\t1T scanned, 1T issued, 2T total\n"
            "\t0B repaired, 50.00% done",
            Scan("scrub", "paused", "", "50.00"),
        ),
    ],
)
def test_it_reads_the_scan_of_every_version(lines, scan):
    (pool,) = parse(made_up(scan=lines))
    (read,) = pool.scans
    assert (read.function, read.state, read.percent, read.errors, read.eta) == (
        scan.function,
        scan.state,
        scan.percent,
        scan.errors,
        scan.eta,
    )


def test_several_scans_and_the_lines_after_them_are_kept():
    text = made_up(scan="resilvered (mirror-1) 5G in 00:01:11 with 0 errors on Tue Mar 12 02:11:00 2024").replace(
        "config:\n",
        "  scan: scrub canceled on Tue Mar 12 03:11:00 2024\n"
        "remove: Evacuation of mirror in progress since Tue Mar 12 04:11:00 2024\n\t1G copied out of 2G at 1M/s, 50.00% done, 0h2m to go\n"
        "checkpoint: created Tue Mar 12 02:00:00 2024, consumes 1.2G\nconfig:\n",
    )
    (pool,) = parse(text)
    assert [scan.function for scan in pool.scans] == ["rebuild", "scrub"]
    assert "50.00% done" in pool.remove
    assert pool.checkpoint.startswith("created")


def test_several_pools_are_read_in_order():
    pools = parse(DEGRADED + "\n" + made_up())
    assert [pool.name for pool in pools] == ["ost_1", "big"]


def test_one_bad_pool_spoils_the_text():
    """A half read node could look healthier than it is."""
    assert isinstance(parse(DEGRADED + "\n" + made_up()[:400]), Unparsed)


def test_depth_has_a_bound():
    deep = "".join(f"\t{' ' * 2 * i}v{i} ONLINE 0 0 0\n" for i in range(3_000))
    text = DEGRADED[: DEGRADED.index("\tost_1")] + deep + "\nerrors: No known data errors\n"
    assert isinstance(parse(text.replace("pool: ost_1", "pool: v0")), Unparsed)


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ("ONLINE       0     0     0", "ONLINE       0  1.2K     0", "the error counters are not three whole numbers; ask with -p"),
        ("ONLINE       0     0     0", "ONLlNE       0     0     0", "ONLlNE is not a vdev state"),
        ("  ONLINE       0     0     0", "", "a line of the vdev tree cannot be read"),
    ],
)
def test_it_names_the_first_line_that_is_no_row(good, bad, reason):
    """Two such lines, and between them one that stands wrong."""
    rows = DEGRADED.replace("\t    /dev/sdc1", "\t     /dev/sdc1").split("\n")
    wrong = [i for i, line in enumerate(rows) if line.startswith("\t    /dev/sd")]
    for i in (wrong[0], wrong[-1]):
        assert good in rows[i]
        rows[i] = rows[i].replace(good, bad)
    assert parse("\n".join(rows)) == Unparsed(reason, rows[wrong[0]].strip())


def test_what_was_read_cannot_be_changed():
    (pool,) = status("slow-disk/2-after")
    for value, field in ((pool, "state"), (pool.vdevs, "children"), (made_up_scan(), "percent")):
        with pytest.raises(AttributeError):
            setattr(value, field, ())


def made_up_scan() -> Scan:
    (pool,) = parse(made_up())
    return pool.scans[0]


@pytest.mark.parametrize(
    "lines",
    [
        "  scan: scrub in progress since " + "1" * 200_000 + "x% done\n",  # once took the square of its length
        "  scan: none requested\n" * 20_000,
        "   see: nothing\n" * 20_000,
        "errors: none\n" + "\n\tx" * 100_000 + "\n",
        "errors: none\n" + "x\n" * 100_000,
    ],
)
def test_a_long_text_takes_no_more_than_its_length(lines):
    text = made_up().replace("config:\n", lines + "config:\n")
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < 5


def displaced(text: str) -> list[str]:
    """Every row and heading of the first tree in turn, taken out of it and put where no row belongs."""
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("\tNAME")) + 1
    end = next(i for i in range(begin, len(lines)) if not lines[i])
    state, errors = (next(i for i, line in enumerate(lines) if line.lstrip().startswith(key)) for key in ("state:", "errors:"))
    entries = []
    for row in range(begin, end):
        for place in (0, state + 1, errors + 1):
            rest = [line for i, line in enumerate(lines) if i != row]
            rest.insert(place - (place > row), lines[row])
            entries.append("\n".join(rest))
    return entries


@pytest.mark.parametrize("name", ["healthy-mixed", "disk-removed/2-removed", "wwid-drift/4-import-d-dev", "sixty-disks/2-one-removed"])
def test_a_row_outside_of_its_tree_is_refused(name):
    """Passed over, the tree would lack that vdev and look whole."""
    for text in displaced((step(name) / "zpool-status-P.txt").read_text()):
        assert isinstance(parse(text), Unparsed), text


@pytest.mark.parametrize("before", ["\tall pools are healthy\n", "\t  sda  ONLINE  0  0  0\n", "\tcontinue\n"])
def test_nothing_stands_before_the_first_pool(before):
    assert isinstance(parse(before + DEGRADED), Unparsed)
