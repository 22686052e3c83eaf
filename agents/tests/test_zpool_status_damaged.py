"""One line of a genuine `zpool status` lost or damaged: nothing else may change, and who must know all of it is told that it does not."""

import re
import time

import pytest

from agents.collectors import zpool_import, zpool_status, zpool_status_guid, zpool_status_json, zpool_status_slow
from agents.collectors.base import Unparsed
from agents.collectors.zpool_status import parse, read
from agents.tests.mangle import mangled
from agents.tests.scenarios import texts

GENUINE = sorted({text for _, text in texts("zpool-status-P.txt") if "pool: " in text}, key=lambda t: (t.count("pool: "), len(t)))
SCANNED = [text for text in GENUINE if "scan: " in text and "wwn-" in text and text.count("pool: ") == 1]
LONG = 60  # rows; in a longer text every third line is damaged
DAMAGES = {
    "lost": lambda line: None,
    "cut": lambda line: line[: len(line) * 2 // 3],
    "unindented": lambda line: line.lstrip(),
    "deeper": lambda line: f"{line[:1]} {line[1:]}",
    "another word": lambda line: re.sub(r"[A-Za-z]{3}", "qqq", line, count=1),
    "another state": lambda line: re.sub(r"\b(ONLINE|DEGRADED|REMOVED|FAULTED|UNAVAIL|OFFLINE)\b", "QUIESCED", line),
    "rounded": lambda line: re.sub(r" 0$", "1.2K", line),
    "one column more": lambda line: f"{line}     7",
}


def rows(text: str) -> dict[tuple[str, str], tuple]:
    """Every row that was read, by pool and name: its state, counters and note. `parse` reads it whole, `read` what is left."""
    found = {}
    for pool in read(text).value:
        for top in (pool.vdevs, *(v for _, vdevs in pool.sections for v in vdevs)):
            for vdev in walk(top):
                found[pool.name, vdev.name] = (vdev.state, vdev.errors, vdev.note)
    return found


def walk(vdev):
    yield vdev
    for child in vdev.children:
        yield from walk(child)


def damaged(text: str):
    """The text with one line changed, the line that was there, and how."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not line or (len(lines) > LONG and at % 3):
            continue
        for how, change in DAMAGES.items():
            now = change(line)
            if now != line:
                yield how, line, "\n".join([*lines[:at], *([] if now is None else [now]), *lines[at + 1 :]])


def is_row(line: str) -> bool:
    return line.startswith("\t") and len(line.split()) > 1 and line.split()[1].isupper() and not line.startswith("\tNAME")


def could_be_printed(how: str, line: str, text: str) -> bool:
    """Whether ZFS itself could have printed the damaged text, so that nobody can tell.

    A line that only some pools have is lost without a trace; so is a member, where its vdev may have one less. A note, a name, a sentence
    and what stands behind a date may be any words.
    """
    name = line.strip().partition(":")[0]
    if how == "lost":
        return name in ("see", "scan", "status", "action", "checkpoint", "remove", "expand") or is_row(line) or line.startswith("\t")
    return not is_row(line) or how in ("cut", "another word", "one column more")


@pytest.mark.parametrize("text", GENUINE, ids=range(len(GENUINE)))
def test_a_damaged_line_hides_no_other_row_and_no_other_pool(text):
    whole = rows(text)
    pools = {pool for pool, _ in whole}
    for how, line, now in damaged(text):
        left = rows(now)
        names_pool = line.strip().startswith("pool:")
        mine = line.split()[0] if is_row(line) else ""
        for (pool, name), value in whole.items():
            if name != mine and name != pool and not names_pool:
                assert left.get((pool, name)) == value, (how, line, name)
        if not names_pool and mine not in pools:
            assert pools <= {pool for pool, _ in left}, (how, line)


@pytest.mark.parametrize("text", GENUINE, ids=range(len(GENUINE)))
def test_who_must_know_all_is_told_when_a_line_is_damaged(text):
    whole = parse(text)
    for how, line, now in damaged(text):
        parsed = parse(now)
        if not isinstance(parsed, Unparsed) and parsed != whole and not could_be_printed(how, line, now):
            raise AssertionError((how, line, now))


@pytest.mark.parametrize("text", GENUINE[:20], ids=range(20))
def test_a_text_that_stops_anywhere_tells_what_stands_before(text):
    whole, printed = rows(text), {line.split()[0]: line for line in text.split("\n") if is_row(line)}
    for end in range(17, text.index("errors:"), 17):
        left = rows(text[:end])
        for (pool, name), value in whole.items():
            if f"{printed[name]}\n" in text[:end]:
                assert left[pool, name] == value
        assert isinstance(parse(text[:end]), Unparsed)


def test_of_two_pools_the_one_that_cannot_be_read_leaves_the_other_whole():
    first, second = SCANNED[0], next(text for text in SCANNED if text.split("\n")[0] != SCANNED[0].split("\n")[0])
    for both in (f"{first}\n{second}", f"{second}\n{first}"):
        odd = both.replace(second, second.replace("scan: ", "scan: unheard-of "))
        kept = {pool.name: pool for pool in read(odd).value}
        (mine,) = read(first).value
        assert kept[mine.name] == mine
        assert not mine.unread
        assert all(pool.unread for name, pool in kept.items() if name != mine.name)


def test_a_note_of_any_release_leaves_the_counters_alone():
    text = SCANNED[0]
    row = next(line for line in text.split("\n") if "wwn-" in line)
    for note in ("  something new", "  (frobnicating)", "  was /dev/a b c", "  block size: 512B configured, 4096B native"):
        (pool,) = read(text.replace(row, row + note)).value
        leaf = next(vdev for vdev in walk(pool.vdevs) if vdev.name == row.split()[0])
        assert (leaf.state, leaf.errors, leaf.note) == ("ONLINE", (0, 0, 0), note.strip())


READERS = ((zpool_status, "zpool-status-P.txt"), (zpool_import, "zpool-import*.txt"), (zpool_status_json, "zpool-status-j*.txt"))


@pytest.mark.parametrize(("module", "pattern"), READERS, ids=[module.NAME for module, _ in READERS])
def test_no_hurt_text_makes_a_reader_raise_and_what_parse_takes_has_nothing_unread(module, pattern):
    for text in mangled([text for _, text in texts(pattern) if len(text) < 6000], 600, seed=5):
        found, whole = module.read(text), module.parse(text)
        assert isinstance(whole, Unparsed) == bool(found.every_unread)
        assert isinstance(whole, Unparsed) or whole == found.value


@pytest.mark.parametrize(
    "odd",
    [
        "\t    sda  ONLINE  0  0  0  " + "(trimming) " * 50_000 + "\n",
        "\t    sda  ONLINE  0  0  0  " + "was /dev/x  " * 50_000 + "\n",
        "\t" + " " * 200_000 + "sda  ONLINE\n",
        "\t  sda\n" * 50_000,
        "".join(f"\t{' ' * (depth % 15)}mirror-{depth}  ONLINE  0  0  1.2K\n" for depth in range(50_000)),
        "  scan: odd\n\tspares\n" * 20_000,
        " state: ONLINE\n" * 20_000,
        "x" * 300_000 + "\n",
        "a: " * 100_000 + "\n",
    ],
)
@pytest.mark.parametrize("module", [zpool_status, zpool_import], ids=lambda module: module.NAME)
def test_an_odd_text_takes_no_more_than_its_length(module, odd):
    began = time.process_time()
    module.read(GENUINE[0].replace("READ WRITE CKSUM", "READ WRITE CKSUM  temp").replace("\nerrors:", f"{odd}\nerrors:"))
    assert time.process_time() - began < 5


def test_the_reader_is_the_same_for_names_and_guids():
    assert zpool_status_guid.read is zpool_status_slow.read is zpool_status.read


def test_the_expression_for_plain_texts_says_what_reading_by_field_says():
    """Of whole and of damaged texts: what is not plain is left to the other, and nothing is plain that the other would refuse."""
    genuine = [text for _, text in texts("zpool-status*.txt")]
    plain = [text for text in (*genuine, *mangled(genuine, 4_000)) if zpool_status._plain(text)]
    assert len(plain) > len(genuine) // 2
    for text in plain:
        assert read(text) == zpool_status._read(text)


@pytest.mark.parametrize("below", ["status: it is", "action: do it", "  scan: none requested"])
@pytest.mark.parametrize("row", ["\t  sdb  ONLINE       0     0     0", "\tsdb  UNAVAIL", "\tlogs", "\tcache "])
def test_a_row_of_the_tree_below_another_field_is_not_plain(below, row):
    tree = "config:\n\n\tNAME  STATE     READ WRITE CKSUM\n\tp     ONLINE       0     0     0\n\t  sda  ONLINE       0     0     0\n\n"
    text = "  pool: p\n state: ONLINE\n{}{}errors: No known data errors\n"
    assert zpool_status._plain(text.format(f"{below}\n", tree))
    assert not zpool_status._plain(text.format(f"{below}\n{row}\n", tree))
    assert isinstance(parse(text.format(f"{below}\n{row}\n", tree)), Unparsed)
