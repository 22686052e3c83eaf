"""What people ran by hand, as the agent reads it: one folder for each showing of a plan."""

import json
from pathlib import Path

import pytest

from agents.collectors import by_hand, node
from agents.collectors.base import Unparsed
from agents.collectors.by_hand import FOLDER, WITHOUT_RUN, Mark, collect, parse
from agents.operations import OPERATIONS, zpool_replace
from agents.tests import rig
from agents.tests.fuzz import FOLDER as CAPTURES

NONCES = [f"{number:032x}" for number in range(by_hand.MARKS_MAX + 1)]


class Folder:
    """Of a host only what is asked here."""

    def __init__(self, files):
        self.files = files

    def list(self, pattern):
        assert pattern in (f"{FOLDER}/*", f"{WITHOUT_RUN}/*")
        return () if pattern == f"{WITHOUT_RUN}/*" else tuple(sorted({path.rsplit("/", 1)[0] for path in self.files}))

    def read(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]


def text_of(files):
    (capture,) = collect(Folder({f"{FOLDER}/{name}": text.encode() for name, text in files.items()}))
    return capture


def test_it_reads_the_ended_and_the_one_under_way():
    text = Path(CAPTURES / "by_hand/made-up--one-that-failed-and-one-under-way.txt").read_text()
    failed, under_way = parse(text)
    assert (failed.exit_code, failed.output.split(":")[0]) == (
        "1",
        "cannot replace 9223372036854775809 with /dev/disk/by-id/wwn-0x5000c500a65b207b",
    )
    assert (under_way.exit_code, under_way.ended_at, under_way.begun_at) == (None, None, "1795697442")


def test_what_it_collects_is_what_it_parses():
    begun = f"nonce {NONCES[1]}\nhostid 007f0101\nboot_id {'1' * 36}\nat 1795696381\n"
    capture = text_of({f"{NONCES[1]}/begun": begun, f"{NONCES[1]}/output": "two\nlines: here\n", "not-a-nonce/begun": begun})
    assert parse(capture.text) == (Mark(NONCES[1], "007f0101", "1" * 36, "1795696381", output="two\nlines: here"),)


def test_a_folder_alone_is_a_command_that_was_begun_and_not_recorded():
    assert parse(f"{NONCES[1]}/:\n") == (Mark(NONCES[1]),)


def test_nothing_there_is_said_as_nothing():
    assert text_of({}).outcome == "nothing"


def test_more_folders_than_anybody_needs_are_not_read():
    assert text_of({f"{nonce}/begun": "" for nonce in NONCES}).outcome == "failed"


def test_files_of_any_size_give_a_bounded_text():
    capture = text_of({f"{NONCES[1]}/{name}": "x" * 10_000_000 for name in ("begun", "ended", "output")})
    assert len(capture.text) < 2 * by_hand.OUTPUT_CHARS_MAX


@pytest.mark.parametrize(
    "line",
    [
        f"begun:nonce {NONCES[2]}",  # of another showing
        "begun:exit_code 0",
        "ended:exit_code zero",
        "ended:exit_code 0\n{nonce}/ended:exit_code 1",
        "other:x",
        "begun:hostid 7",
    ],
)
def test_a_line_that_is_none_of_ours_is_no_record(line):
    text = f"{NONCES[1]}/{line}\n".replace("{nonce}", NONCES[1])
    assert isinstance(parse(text), Unparsed)


# --- planned and probed by hand


UNREAD = "2.9.1-1"


@pytest.fixture
def host(tmp_path):
    return rig.twin(tmp_path)


def unread(host):
    with host.store.changing() as twin:
        twin.zfs_userland = twin.zfs_module = UNREAD


def asked_for_plan(host, **more):
    return OPERATIONS["plan"].run(host, {"operation": "zpool_replace", "params": json.dumps(rig.params(host)), **more})


def test_a_release_that_was_not_read_is_planned_for_a_person_and_not_for_an_order(host):
    unread(host)
    assert asked_for_plan(host).outcome == "refused"
    by_hand_plan = asked_for_plan(host, by="hand")
    assert (by_hand_plan.outcome, by_hand_plan.reason) == ("succeeded", "")
    assert by_hand_plan.result["argv"][:2] == ["zpool", "replace"]


def test_a_plan_by_hand_asks_everything_else(host):
    unread(host)
    params = rig.params(host) | {"vdev_guid": "5"}
    refused = OPERATIONS["plan"].run(host, {"operation": "zpool_replace", "params": json.dumps(params), "by": "hand"})
    assert refused.outcome == "refused"
    assert "no vdev 5" in refused.reason


def test_a_plan_is_by_hand_or_by_an_order():
    params = {"operation": "zpool_scrub", "params": json.dumps({"pool": "p", "pool_guid": "1"})}
    assert OPERATIONS["plan"].check({**params, "by": "hand"}) == ""
    assert OPERATIONS["plan"].check({**params, "by": "force"})


class Marked:
    """The twin, with what a snippet left in memory."""

    def __init__(self, host, files):
        self._host, self._files = host, Folder({f"{FOLDER}/{name}": text.encode() for name, text in files.items()})

    def __getattr__(self, name):
        return getattr(self._host, name)

    def list(self, pattern):
        return self._files.list(pattern) if pattern.startswith(FOLDER) else self._host.list(pattern)

    def read(self, path):
        return self._files.read(path) if path.startswith(FOLDER) else self._host.read(path)


def marks(host, exit_code="0", nonce=NONCES[1]):
    info = node.parse(node.collect(host)[0].text)
    begun = f"nonce {nonce}\nhostid {info.hostid}\nboot_id {info.boot_id}\nat 1795696381\n"
    return {f"{nonce}/begun": begun, f"{nonce}/ended": f"nonce {nonce}\nexit_code {exit_code}\nat 1795696384\noutput \n"}


def probed(host, files):
    params, marked = rig.params(host), Marked(host, files)
    pre = OPERATIONS["zpool_replace"].preconditions(host, params)
    asked = {"operation": "zpool_replace", "params": json.dumps(params), "preconditions": json.dumps(pre), "nonce": NONCES[1]}
    assert OPERATIONS["probe_by_hand"].check(asked) == ""
    return OPERATIONS["probe_by_hand"].run(marked, asked)


def test_a_command_given_by_hand_is_probed_like_an_order(host):
    files = marks(host)
    before = probed(host, files).result
    assert (before["probe"], before["record"]["ended"]) == ("did_not", "well")
    host.run(zpool_replace.argv(rig.params(host)), 10)
    after = probed(host, files)
    assert (after.result["probe"], after.result["record"]["hostid"]) == ("did", after.result["hostid"])
    assert {"by_hand", "node", "zpool_status"} <= {capture.source for capture in after.captures}


def test_the_record_of_another_showing_is_none_of_this(host):
    assert probed(host, marks(host, nonce=NONCES[2])).result["record"] == {}
    assert probed(host, {}).result["record"] == {}


def test_a_command_that_ended_badly_is_told_apart_from_one_under_way(host):
    files = marks(host, exit_code="1")
    assert probed(host, files).result["record"]["ended"] == "badly"
    assert probed(host, {name: text for name, text in files.items() if "begun" in name}).result["record"]["ended"] == ""
