"""What an operator pastes, in the state it arrives, gives the same situations as an agent's report."""

from __future__ import annotations

import json
import textwrap

import pytest

from agents.tests.mangle import mangled
from agents.tests.scenarios import STEPS, step
from workflows.analysis.judgement import judge_pasted
from workflows.facts import known
from workflows.facts.tests.played import fleet
from workflows.situations import detect_all
from workflows.triage import answer, triage

DRIFT = "wwid-drift/4-import-d-dev"
ASKED = ("zpool status -P", "zpool status -gLP", "lsscsi -i", "zpool import")


def outputs(name: str) -> list[tuple[str, str]]:
    """(command, output) of what an operator would paste of a step: both trees, the disks, every label."""
    folder = step(name)
    body = json.loads((folder / "exit_codes.json").read_text())
    commands = {entry["command"]: file for file, entry in body.items()}
    wanted = [c for c in commands if c in ASKED or c.startswith("zdb -l /dev/")]
    texts = ((c, (folder / commands[c]).read_text()) for c in sorted(wanted, key=lambda c: (c.startswith("zdb"), c)))
    return [(c, text) for c, text in texts if text.strip()]


def session(name: str, prompt: str = "root@oss01:~# ") -> str:
    return "\n".join(f"{prompt}{command}\n{text}" for command, text in outputs(name))


def slugs(situations) -> set[tuple[str, str]]:
    return {(found.slug, found.severity) for found in situations if found.slug in ("wwid-mismatch", "disk-missing")}


def complete(name: str) -> bool:
    """Whether the step recorded the trees, the disks and the labels of all of them."""
    commands = {command for command, _ in outputs(name)}
    return {"zpool status -P", "zpool status -gLP", "lsscsi -i"} <= commands and any(c.startswith("zdb") for c in commands)


COMPLETE = [name for name in STEPS if complete(name)]


def test_there_are_many_genuine_sessions():
    assert len(COMPLETE) > 30


@pytest.mark.parametrize("name", COMPLETE[::4])
def test_a_pasted_session_gives_the_situations_of_a_report(name):
    answer = triage([("paste", session(name))])
    assert slugs(answer.situations) == slugs(detect_all(fleet(name)))
    assert {read.outcome for read in answer.reads} == {"read"}, [read for read in answer.reads if read.outcome != "read"]
    assert set(answer.fleet.nodes) == {"oss01"}


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def blanks_for_tabs(text: str) -> str:
    return text.expandtabs(8)


def windows(text: str) -> str:
    return "\ufeff" + text.replace("\n", "\r\n")


def in_a_chat(text: str) -> str:
    return f"hi, ost_1 looks bad, can you look?\n```\n{text}\n```\nthanks!\n"


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


@pytest.mark.parametrize("how", [quoted, blanks_for_tabs, windows, in_a_chat, indented])
def test_what_mail_and_chat_do_to_a_text_changes_nothing(how):
    answer = triage([("mail", how(session(DRIFT)))])
    assert slugs(answer.situations) == {("wwid-mismatch", "act")}
    assert all(read.outcome == "read" for read in answer.reads if read.source)


def test_lines_wrapped_by_mail_are_joined_and_said():
    wrapped = wrap(session(DRIFT), 52)
    answer = triage([("mail", wrapped)])
    status = next(read for read in answer.reads if read.source == "zpool_status")
    assert status.outcome == "read", status
    assert any("joined" in note for note in status.notes)
    assert slugs(answer.situations) == {("wwid-mismatch", "act")}


def wrap(text: str, width: int) -> str:
    """As a mail program breaks lines: at the last blank before the width; what follows starts at the left."""
    out = []
    for line in text.expandtabs(8).split("\n"):
        while len(line) > width and " " in line[: width + 1].strip():
            at = line.rfind(" ", 0, width + 1)
            if not line[:at].strip():
                break
            out.append(line[:at])
            line = line[at:].lstrip()
        out.append(line)
    return "\n".join(out)


def test_outputs_without_any_prompt_are_told_apart():
    text = "\n".join(output for command, output in outputs(DRIFT) if command.startswith(("zpool status", "lsscsi")))
    answer = triage([("paste", text)])
    assert [read.source for read in answer.reads if read.outcome == "read"] == ["lsscsi", "zpool_status", "zpool_status_guid"]


def test_a_status_alone_still_tells_what_it_can():
    answer = triage([("paste", dict(outputs("disk-removed/2-removed"))["zpool status -P"])])
    assert slugs(answer.situations) == {("disk-missing", "act")}
    facts = answer.fleet.nodes["pasted"]
    assert not known(facts.disks)


def test_two_hosts_in_one_paste_are_two_nodes():
    text = session(DRIFT) + "\n" + session("disk-removed/2-removed", "[root@oss02 ~]# ")
    answer = triage([("paste", text)])
    assert set(answer.fleet.nodes) == {"oss01", "oss02"}
    assert {found.node for found in answer.situations if found.slug == "wwid-mismatch"} == {"oss01"}


def test_words_and_unknown_commands_are_left_out_and_named():
    answer = triage(
        [("paste", "# uname -a\nLinux oss01 6.1.0\n# zpool status -P\n" + dict(outputs(DRIFT))["zpool status -P"] + "\nWhat now?\n")]
    )
    assert [(read.outcome, read.command.split(" ")[0]) for read in answer.reads] == [
        ("left out", "uname"),
        ("read", "zpool"),
        ("left out", ""),
    ]


def test_rounded_counters_are_named_and_never_read_as_numbers():
    text = dict(outputs("disk-removed/2-removed"))["zpool status -P"]
    row = next(line for line in text.split("\n") if "ONLINE       0     0     0" in line and "wwn-" in line)
    answer = triage([("paste", text.replace(row, row.replace("0     0     0", "1.2K    0     7")))])
    read = next(read for read in answer.reads if read.source == "zpool_status")
    assert "rounded" in " ".join(read.notes)
    assert row.split()[0] in " ".join(read.notes)
    assert read.outcome == "read"
    pools = answer.fleet.nodes["pasted"].pools
    assert not any(known(pool.tops) for pool in pools)
    leaves = [leaf for pool in pools for _, top in pool.tops_read for leaf in top.leaves()]
    assert [(known(leaf.errors), leaf.figures) for leaf in leaves if leaf.name == row.split()[0]] == [(False, ("1.2K", "0", "7"))]
    assert "disk-errors" in [found.slug for found in answer.situations]


def test_a_tree_without_its_indentation_is_rebuilt_where_the_words_allow_one_tree_and_says_so():
    text = "\n".join(line.strip() for line in dict(outputs(DRIFT))["zpool status -P"].split("\n"))
    (read,) = triage([("paste", text)]).reads
    assert read.outcome == "read"
    assert "The indentation was lost and rebuilt." in read.notes


def test_a_tree_without_its_indentation_is_refused_not_guessed():
    """By guid, no row says that it has members."""
    text = "\n".join(line.strip() for line in dict(outputs(DRIFT))["zpool status -gLP"].split("\n"))
    (read,) = triage([("paste", text)]).reads
    assert read.outcome != "read"
    assert "indentation" in " ".join((read.reason, *read.notes))


def test_a_label_asked_for_by_its_stable_name_is_put_to_its_disk():
    values = dict(outputs(DRIFT))
    wwid = next(line.split()[-2] for line in values["lsscsi -i"].split("\n") if "/dev/sda " in line)
    label = values["zdb -l /dev/sda1"]
    answer = triage([("paste", f"# lsscsi -i\n{values['lsscsi -i']}\n# zdb -l /dev/disk/by-id/scsi-{wwid}-part1\n{label}")])
    disk = next(d for d in answer.fleet.nodes["pasted"].disks if "sda" in d.names)
    assert known(disk.labels)
    assert disk.labels


def test_every_line_is_accounted_for_by_its_number():
    text = session(DRIFT)
    numbers = [n for read in triage([("p", text)]).reads for n in range(read.first, read.last + 1)]
    assert len(numbers) == len(set(numbers))
    names = {i + 1 for i, line in enumerate(text.split("\n")) if line.strip() and not line.startswith("root@")}
    assert names <= set(numbers)


def test_a_paste_that_is_too_long_is_refused_by_name():
    answer = triage([("big.txt", "x" * 16_000_001)])
    assert answer.reads[0].outcome == "not read"
    assert "16000000" in answer.reads[0].reason


def test_no_mangled_paste_raises():
    for text in mangled([session(name) for name in COMPLETE[:12]], 300, seed=3):
        assert all(read.outcome in ("read", "partly", "not read", "left out") for read in triage([("paste", text)]).reads)


def test_what_was_pasted_is_judged_once(monkeypatch):
    """The page, the JSON and the exit code each ask for the verdict, and a large paste takes long to judge."""
    asked = []
    monkeypatch.setattr(answer, "judge_pasted", lambda *given, **more: asked.append(given) or judge_pasted(*given, **more))
    found = triage([("a", session("healthy-mixed"))])
    assert found.good == (not found.not_good_because)
    assert found.not_looked_at
    assert len(asked) == 1
