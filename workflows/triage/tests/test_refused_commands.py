"""Commands that zpool and zfs refuse: each sentence in a session, in ZFS's own layout with names of our own, and what is told of it."""

from pathlib import Path

import pytest

from workflows.analysis.zfs_refusals import SENTENCES, UNKNOWN, Refusal
from workflows.triage import triage
from workflows.triage.refused import refusals

CASES = Path(__file__).parent / "cases"
SESSION = (CASES / "refused-commands.txt").read_text()
WHY = [
    "disk-busy", "already-replacing", "too-small", "not-in-pool", "no-replicas", "only-mirror", "suspended", "is-resilvering", "remove-config",
    "busy-dataset", "busy-dataset", "mismatched", "part-of-exported", "no-such-disk", "filesystem", "other-system-had-it",
    "imported-unknown-host", "hostid-not-set", "missing-use-m", "has-children", "key", "hostid-not-set", "split", "no-such-pool", "unknown",
]  # fmt: skip
ACT = "suspended"  # the pool serves nobody; the gravest come first


def test_each_refusal_of_a_session_is_a_situation_of_its_own_to_watch_and_a_suspended_pool_to_act_on():
    found = triage([("p", SESSION)])
    lines = [one.subject["why"] for one in found.situations if one.slug == "refused-command"]
    assert lines == [ACT, *(why for why in WHY if why != ACT)]
    assert {one.subject["why"] for one in found.situations if one.severity != "watch"} == {ACT}
    assert {read.outcome for read in found.reads} == {"read"}


def test_without_its_prompts_it_says_the_same_of_each_but_imports_of_one_pool_are_one():
    lines = [line for line in SESSION.split("\n") if not line.startswith("root@")]
    assert {one.sentences()[0].slug for one in refusals(lines)} >= set(WHY) - {"other-system-had-it", "hostid-not-set", "missing-use-m"}


def test_a_disk_that_serves_is_named_and_the_lost_member_by_its_guid():
    text = (CASES / "refused-replace-with-a-member.txt").read_text()
    (found,) = triage([("p", text)]).situations
    assert (found.subject["pool"], found.subject["vdev_guid"]) == ("ost_0", "14718944552882581455")
    for words in (
        "/dev/sdcw1 is a member of the imported pool ost_0 today",
        "tried with -f, and refused all the same",
        "a disk that carries no label",
    ):
        assert words in found.meaning


def test_an_unknown_host_is_no_proof_of_another_host():
    (found,) = [one for one in triage([("p", SESSION)]).situations if one.subject["why"] == "imported-unknown-host"]
    assert "no proof of another host" in found.meaning
    assert "Another host has the pool imported now" not in found.title


def test_a_sentence_that_nobody_knows_is_told_as_such():
    (found,) = triage([("p", "# zpool trim tank\ncannot trim 'tank': the moon is full\n")]).situations
    assert (found.subject["why"], found.sure) == ("unknown", False)
    assert "What this sentence means is not known here" in found.meaning


@pytest.mark.parametrize(
    "text",
    [
        "I cannot import it: what shall I do?",
        "we cannot replace the disk today: it is Sunday",
        "cannot open '/etc/motd': No such file or directory",
    ],
)
def test_talk_is_no_refusal(text):
    assert not triage([("p", text + "\n")]).situations


def test_every_sentence_says_what_it_means_and_what_comes_next_and_has_a_name_of_its_own():
    assert len({one.slug for one in SENTENCES}) == len(SENTENCES)
    assert all(one.means.endswith(".") and one.next.endswith(".") for one in (*SENTENCES, UNKNOWN))


@pytest.mark.parametrize(
    "line",
    [
        "cannot replace a with b" + ": c" * 20_000,
        "cannot import '" + "a" * 50_000,
        "invalid vdev specification " * 2_000,
        "Key load error: " + "key " * 9_000,
    ],
)
def test_a_long_line_costs_no_more_than_a_long_line(line):
    assert len(refusals([line] * 50)) <= 50


@pytest.mark.parametrize(
    "text",
    [
        "pool is imported on host '<unknown>' (hostid=0).",
        "The pool must be exported from unknown (hostid=0)\n\tbefore it can be safely imported.",
    ],
)
def test_activity_of_no_known_host_is_never_told_as_another_host_s_pool(text):
    slugs = {sentence.slug for sentence in Refusal("import", "tank", (text,)).sentences()}
    assert "imported-unknown-host" in slugs
    assert "imported-elsewhere" not in slugs
    named = Refusal(
        "import", "tank", (text.replace("<unknown>", "oss02").replace("unknown", "oss02").replace("hostid=0", "hostid=5b2f4c02"),)
    )
    assert "imported-elsewhere" in {sentence.slug for sentence in named.sentences()}
