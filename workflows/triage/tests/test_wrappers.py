"""Whatever is wrapped around a genuine output, it tells the same: the same facts, the same situations, borne out by the same lines."""

from __future__ import annotations

import functools

import pytest

from agents.tests.scenarios import step
from workflows.facts import NodeFacts
from workflows.triage import Triage, triage
from workflows.triage.tests.wrapping import WRAPPERS
from workflows.triage.unwrap import cleaned

PROMPT = "root@oss01:~# "
TEXTS = {  # step, file, the command that printed it where its text does not say what it is
    "degraded": ("disk-removed/2-removed", "zpool-status-P.txt", ""),
    "degraded with its prompt": ("disk-removed/2-removed", "zpool-status-P.txt", "zpool status -P"),
    "names moved": ("wwid-drift/4-import-d-dev", "zpool-status-P.txt", "sudo zpool status -P"),
    "by guid": ("wwid-drift/4-import-d-dev", "zpool-status-gLP.txt", "zpool status -gLP"),
    "resilver": ("disk-removed-zfs2.3/5-resilver-start", "zpool-status-P.txt", ""),
    "healthy": ("healthy-raidz2", "zpool-status-P.txt", ""),
    "two pools": ("other-host/3-forced", "zpool-status-P.txt", ""),
    "importable": ("import-rewind/1-not-imported", "zpool-import.txt", ""),
    "importable with its prompt": ("wwid-drift/2-booted-not-imported", "zpool-import.txt", "zpool import"),
    "held by another host": ("active-on-other-host", "zpool-import.txt", ""),
    "disks": ("healthy-raidz2", "lsscsi-i.txt", ""),
    "label": ("wwid-drift/4-import-d-dev", "zdb-l-sda1.txt", "zdb -l /dev/sda1"),
    "events": ("healthy-raidz2", "zpool-events-v.txt", "zpool events -v"),
    "history": ("healthy-raidz2", "zpool-history-i.txt", ""),
    "properties": ("healthy-raidz2", "zpool-get-all.txt", ""),
    "smart": ("healthy-raidz2", "smartctl-x-sda.txt", ""),
    "kernel log": ("healthy-raidz2", "dmesg-tail.txt", ""),
    "cached configuration": ("healthy-raidz2", "zdb-C.txt", "zdb -C"),
}
# What a wrapper does besides, so that some texts are another text than before
NOT_THE_SAME = {
    ("comments of an ini", "label"),
    ("messenger, first line", "disks"),  # a first row that stands behind other words is none
    ("words on the pool's line", "disks"),
}


@functools.cache
def text_of(name: str) -> str:
    folder, file, command = TEXTS[name]
    text = (step(folder) / file).read_text()
    return f"{PROMPT}{command}\n{text}" if command else text


@functools.cache
def plain(name: str) -> dict:
    """What a reader is told of the text without a wrapper."""
    return shown(triage([("paste", text_of(name))]))


def shown(found: Triage) -> dict:
    """What a reader is told, without the names of hosts and digests."""
    return {
        "sources": [(read.source, read.outcome, read.reason) for read in found.reads if read.source],
        "situations": [(s.slug, s.severity, s.title.replace("oss01", "pasted"), s.subject.get("disk")) for s in found.situations],
        "facts": [facts(node) for node in found.fleet.nodes.values()],
        "lines": [[found.lines[m.name][m.line - 1].split() for m in found.marks(s)] for s in found.situations],
    }


def facts(node: NodeFacts) -> dict:
    return {"pools": node.pools, "disks": node.disks, "importable": node.importable}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapped_text_tells_the_same(wrapper, name):
    if (wrapper, name) in NOT_THE_SAME:
        pytest.skip("this wrapper is part of what the text says")
    found = shown(triage([("paste", WRAPPERS[wrapper](text_of(name)))]))
    assert found["sources"] == plain(name)["sources"]
    assert found == plain(name)


OUTER = ("quoted", "bbcode", "windows", "fenced in a quote")
INNER = (
    "cat -n",
    "editor",
    "ansible",
    "yaml",
    "log of Docker",
    "Kubernetes with times",
    "grep -C",
    "html breaks and blanks",
    "table",
    "syslog",
    "bullets",
    "Jira",
)


@pytest.mark.parametrize("name", ["degraded", "names moved"])
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_a_text_that_was_wrapped_twice_tells_the_same(outer, inner, name):
    found = triage([("paste", WRAPPERS[outer](WRAPPERS[inner](text_of(name))))])
    assert shown(found) == plain(name)


def test_empty_lines_between_paragraphs_stay():
    """Lines are closed up only where many follow each other so."""
    text = "Our pool is DEGRADED.\n\nIt is this one:\n\n" + text_of("degraded")
    assert cleaned(text).lines[:4] == ["Our pool is DEGRADED.", "", "It is this one:", ""]


def test_a_mark_that_is_part_of_each_line_stays_where_the_lines_are_known_with_it():
    log = text_of("kernel log")
    assert [line[:15] for line in cleaned(log).lines] == [line.rstrip()[:15] for line in log.split("\n")]


@pytest.mark.parametrize("word", ["<metadata>:<0x0>", "<0x56>:<0x2>"])
def test_what_zfs_writes_between_angles_is_no_tag(word):
    assert cleaned(f"<output>\nerrors: Permanent errors\n        {word}\n</output>\n").lines[2].strip() == word


@pytest.mark.parametrize("wrapper", ["every second line empty", "string of json"])
def test_a_change_of_the_line_ends_is_named_beside_the_text(wrapper):
    (read,) = (read for read in triage([("paste", WRAPPERS[wrapper](text_of("degraded")))]).reads if read.source)
    assert any("the numbers of lines count them as they stand then" in note for note in read.notes)


@pytest.mark.parametrize(
    "line",
    [
        '{"time": "2026-11-21T12:01:07Z", "pool": "tank", "health": "DEGRADED", "message": "checked"}',
        '{"host": "oss01", "disks": ["sda FAULTED"], "msg": "done"}',
    ],
)
def test_a_line_of_json_whose_other_fields_tell_of_trouble_stays_whole(line):
    assert cleaned("\n".join([line] * 4)).lines == [line] * 4


def test_an_element_with_attributes_stays():
    assert 'state="FAULTED"' in "\n".join(cleaned('<pool><vdev name="sda" state="FAULTED">x</vdev></pool>').lines)


def test_what_ansible_calls_failed_stays():
    assert cleaned("oss01 | FAILED | rc=1 | (stdout) a\\nb").lines == ["oss01 | FAILED | rc=1 | (stdout) a\\nb"]
