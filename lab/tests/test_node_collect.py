"""A node without an agent: names drift over a power cut, and all that the portal learns of it are archives of `slotlight-collect`.

The script that the portal serves runs as root in dash, a person drops what it wrote, and the run goes by hand to its verified end. On the way archives that
say nothing of the command: one whose collection began before the question, the same once more, and those of other hosts.
"""

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.tests.afterwards import orders_that_change, verified
from lab.tests.incidents import AFTER, MEMBERS, NEW, comes_back_in_other_bays, import_if_need_be, on_raw_names
from lab.visitor import Page, Visitor
from lab.walk import DONE, LOOK_BY_HAND, Walk

NODE, DISKS = "oss27", MEMBERS
POOL = "ost_27"
COLLECT_SECONDS = 900  # the script gives up after 600
ARCHIVES_MAX = 8
NOT_KNOWN = "Whether the command took effect is not known yet."
STRANGER = "feedbeef"  # a hostid


class Archives:
    """What slotlight-collect writes on the node, and who drops it on the portal."""

    def __init__(self, stage, who: Visitor) -> None:
        self.stage, self.who = stage, who
        self.script = who.fetch("/snapshots/slotlight-collect")

    def collect(self) -> bytes:
        """As the page says: `ssh root@HOST sh -s < slotlight-collect`."""
        return self.stage.machine.guest.fed("sh -s", self.script, seconds=COLLECT_SECONDS)

    def drop(self, archive: bytes, **typed: str) -> Page:
        self.who.go("/snapshots/bring/")
        return self.who.press("Bring it", files={"archive": (f"{NODE}.slotlight", archive)}, **typed)

    def taken(self, archive: bytes, **typed: str) -> Page:
        page = self.drop(archive, **typed)
        assert page.path == f"/snapshots/{NODE}/", page.text
        return page

    def refused(self, archive: bytes, **typed: str) -> str:
        page = self.drop(archive, **typed)
        assert page.status == 422, page.text
        return page.text.partition("Nothing was stored.")[2]


def of_another(archive: bytes, *changed: tuple[str, str]) -> bytes:
    """The archive as another host would have written it; each word is replaced by one of its length wherever it stands, a hostid also in its bytes."""
    body, held = archive[archive.index(b"\x1f\x8b") :], io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(body)) as tar, tarfile.open(fileobj=held, mode="w:gz") as new:
        for one in tar:
            data = tar.extractfile(one).read()
            for old, word in changed:
                data = data.replace(old.encode(), word.encode()).replace(in_bytes(old), in_bytes(word))
            new.addfile(one, io.BytesIO(data))
    return held.getvalue()


def in_bytes(word: str) -> bytes:
    """A hostid as `od` shows /etc/hostid; of any other word itself."""
    try:
        return bytes.fromhex(word)[::-1].hex(" ").encode()
    except ValueError:
        return word.encode()


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def archives(stage, portal):
    return Archives(stage, Visitor(portal, "eve"))


@pytest.fixture(scope="module")
def lost(stage):
    lost = on_raw_names(stage, POOL)
    comes_back_in_other_bays(stage)
    import_if_need_be(stage, POOL)
    return lost


@pytest.fixture(scope="module")
def first(archives, lost) -> bytes:
    archive = archives.collect()
    archives.taken(archive)
    return archive


@pytest.fixture(scope="module")
def snippet(stage, walk, first, lost) -> str:
    """What replaces the lost member, as the page shows it once. All of it is answered by the first archive."""
    walk.begin(f"{POOL} lost the member {lost.guid}", "wwid-mismatch-replace")
    walk.choose("Choose the new disk", stage.machine.disk(NEW).serial)
    walk.insist("Go on by hand", "Check pool, lost member and new disk")
    walk.planned("Have the node plan it", button="Plan it, to do it by hand")
    walk.confirm_and_approve("Confirm what is replaced")
    return walk.shown_by_hand("Replace the disk")


@pytest.fixture(scope="module")
def run(walk, snippet) -> str:
    """The address of that run."""
    return walk.path


def look(walk: Walk) -> Page:
    """The run's page once it is asked of the node what became of the command."""
    walk.asker.go(walk.path)
    page = walk.asker.press(LOOK_BY_HAND)
    assert f"{NODE} has no agent. An archive answers this whose collection began after " in walk.asker.go(walk.path).text
    return page


def test_what_the_script_reads_is_the_node_and_nothing_is_left_there(stage, archives, first):
    assert stage.sh("readlink -f /bin/sh").strip().endswith("/dash")
    page = archives.who.go(f"/snapshots/{NODE}/")
    print(page.text)
    assert "The script did not run as root" not in page.text
    facts = stage.facts()
    truth = {stage.machine.disk(n).wwid: stage.machine.disk(n).serial for n in AFTER.values()}
    assert {disk["wwid"]: disk["serial"] for disk in facts["disks"]} == truth
    assert facts["hostid"] == stage.machine.settings.hostid
    assert [(pool["name"], pool["state"]) for pool in facts["pools"]] == [(POOL, "DEGRADED")]
    assert (
        stage.sh("ls -d /tmp/slotlight* /run/slotlight* /dev/shm/slotlight* /etc/slotlight* /usr/bin/slotlight* 2>/dev/null", check=False)
        == ""
    )


def test_an_archive_that_is_said_to_be_of_another_host_is_refused(archives, first):
    assert f"This is an archive of {NODE}, and not of oss99." in archives.refused(of_another(first), host="oss99")


def test_the_same_boot_under_another_name_is_refused(archives, first):
    assert f"which was brought as {NODE}" in archives.refused(of_another(first, (NODE, "oss28")))


def test_an_archive_of_another_host_of_that_name_is_refused(stage, archives, first):
    own = stage.machine.settings.hostid
    refusal = archives.refused(of_another(first, (own, STRANGER)))
    assert f"{NODE} had the hostid {own} when it was brought last, and this archive is of a host with the hostid {STRANGER}" in refusal


def test_an_archive_that_began_before_the_question_settles_nothing(stage, walk, archives, snippet, run):
    """Its collection is under way while the command is given, and ends after the question."""
    with ThreadPoolExecutor(1) as beside:
        collecting = beside.submit(archives.collect)
        stage.sh("timeout 120 sh -c 'until ls -d /dev/shm/slotlight.* 2>/dev/null; do sleep 0.2; done'")
        printed = stage.machine.guest.paste(snippet)
        print(printed)
        assert "slotlight: ended with exit code 0, nonce " in printed
        assert "It names this showing." in walk.paste_back(printed).current
        look(walk)
        early = collecting.result()
    archives.taken(early)
    page = walk.asker.go(run)
    print(page.current)
    assert NOT_KNOWN in page.current
    assert "so it does not" in page.current
    archives.taken(early)
    assert NOT_KNOWN in walk.asker.go(run).current


def test_an_archive_of_another_host_leaves_it_unknown_also_where_a_person_vouches_for_it(stage, walk, archives, snippet, run):
    own = stage.machine.settings.hostid
    archive = archives.collect()
    forged = of_another(archive, (own, STRANGER))
    archives.refused(forged)
    archives.taken(forged, anew="on")
    page = walk.asker.until(lambda page: "has no agent: an archive whose collection" not in page.current, "what the archive shows", run)
    print(page.current)
    assert f"The hostid of the node or of its record is not the one that was planned ({own})." in page.text
    assert NOT_KNOWN in page.current


def test_a_later_archive_settles_it_and_the_run_ends_verified(stage, walk, archives, lost, snippet, run, tmp_path):
    look(walk)
    archives.taken(archives.collect(), anew="on")  # the one before was of another hostid
    page = walk.asker.until(lambda page: NOT_KNOWN not in page.current, "what became of the command", run)
    print(page.current)
    for _ in range(ARCHIVES_MAX):
        if DONE.search(walk.asker.go(run).text):
            break
        archives.taken(archives.collect())
    walk.asker.until(lambda page: DONE.search(page.text), "that the run is done", run, 60)
    stage.keep("replaced")
    (replace,) = stage.replaces(POOL)
    assert lost.guid in replace
    assert stage.machine.disk(NEW).by_id in replace
    assert " -f" not in replace
    assert "state: ONLINE" in stage.sh(f"zpool status {POOL}")
    assert orders_that_change(stage) == "[]"
    assert "agent" not in stage.sh("systemctl list-units --all 'slotlight*' --no-legend")
    print(verified(walk.asker, run, tmp_path))


def test_an_archive_from_before_the_command_is_refused_afterwards(archives, first, snippet):
    """Its bytes are another's, so that it is not taken for the one that was brought."""
    assert f"What is known of {NODE} was taken at " in archives.refused(of_another(first))
