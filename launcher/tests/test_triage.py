"""`./run triage` on genuine outputs: what it says and how it ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agents.tests.scenarios import step
from launcher.say import Stop
from launcher.triage import triage

ROOT = Path(__file__).resolve().parents[2]
DRIFT = step("wwid-drift/4-import-d-dev")


def test_an_incident_is_said_first_and_ends_with_1(capsys):
    assert triage([str(DRIFT / "zpool-status-P.txt"), str(DRIFT / "lsscsi-i.txt")]) == 1
    output = capsys.readouterr().out
    assert output.startswith("ACT  pasted: ost_1 lost the member 16127029951090533777")
    assert "lsscsi-i.txt:1-6" in output


def test_it_says_which_runbook_answers_and_what_to_run_next(capsys):
    triage([str(DRIFT / "zpool-status-P.txt"), str(DRIFT / "lsscsi-i.txt")])
    output = capsys.readouterr().out
    runbooks = re.findall(r"runbook: (\S+)", output)
    assert "docs/runbooks/wwid-mismatch-replace.md" in runbooks
    assert all((ROOT / page).is_file() for page in runbooks)
    assert "pool ost_1" in output
    assert "\n  zpool status -g -p    # " in output
    assert "zpool status -P -p    #" not in output


def test_a_healthy_node_ends_with_0_and_does_not_promise_that_all_is_well(capsys):
    assert triage([str(step("wwid-drift/1-before") / "zpool-status-P.txt")]) == 0
    assert "Only what is listed above as read was looked at." in capsys.readouterr().out


def test_what_nobody_can_read_ends_with_2(tmp_path, capsys):
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe hello\n")
    assert triage([str(tmp_path / "x.txt")]) == 2
    assert "Nothing of this could be read." in capsys.readouterr().out


def test_a_missing_file_is_named():
    with pytest.raises(Stop, match="nowhere.txt cannot be read: No such file or directory."):
        triage(["nowhere.txt"])


@pytest.mark.parametrize(("node", "code"), [(DRIFT, 1), (step("wwid-drift/1-before"), 0)])
def test_a_reader_that_has_read_enough_changes_nothing_of_how_it_ends(node, code):
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [sys.executable, "-m", "launcher", "triage", str(node / "zpool-status-P.txt")],
        cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
    )  # fmt: skip
    os.close(write)
    assert (ran.returncode, ran.stderr) == (code, "")
