"""The minder with real processes: the command outlives who started it, runs at most once, and its real end is written down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipapp
from pathlib import Path

import pytest

import agents
from agents.host.command_supervisor import CannotMind, Left, Outside, mark_of
from agents.host.host import LocalHost

ROOT = Path(agents.__file__).parent.parent


def outside(folder, script, seconds=20.0):
    words = (sys.executable, "-I", "-c", script)
    return Outside(str(folder / "o1"), ("tool", "word"), words, seconds)


def until(what, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_hands_back_exit_code_and_both_outputs(tmp_path):
    command = outside(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    ran = command.go()
    assert (ran.argv, ran.exit_code, ran.stdout, ran.stderr, ran.why) == (("tool", "word"), 3, b"out\n", b"err\n", "")
    command.close()
    left = Left(str(tmp_path / "o1"), command.mark)
    assert left.ran(("tool", "word")).exit_code == 3
    assert abs(left.ended_at() - time.time()) < 10
    left.forget()
    assert not (tmp_path / "o1").exists()


def test_nothing_runs_before_go_and_never_after_close(tmp_path):
    command = outside(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')")
    left = Left(str(tmp_path / "o1"), command.mark)
    assert left.alive()
    command.close()
    assert not left.alive()
    assert (left.was_begun(), (tmp_path / "ran").exists(), left.ran(())) == (False, False, None)


def test_it_gives_the_command_a_clean_environment_a_session_of_its_own_and_no_input(tmp_path):
    os.environ["SLOTLIGHT_LEAK"] = "1"
    try:
        ran = outside(tmp_path, "import os, sys; print(os.getsid(0) == os.getpid(), dict(os.environ), sys.stdin.read(), os.getcwd())").go()
    finally:
        del os.environ["SLOTLIGHT_LEAK"]
    output = ran.stdout.decode()
    assert (output[:4], output[-3:], "LC_ALL" in output, "LEAK" in output) == ("True", " /\n", True, False)


def test_it_ends_a_command_at_its_deadline_with_all_it_started(tmp_path):
    script = f"import subprocess, time; subprocess.Popen(['sleep', '60']); open({str(tmp_path / 'up')!r}, 'w'); time.sleep(60)"
    begun = time.monotonic()
    ran = outside(tmp_path, script, 1.0).go()
    assert (ran.exit_code, ran.why) == (None, "timeout")
    assert (tmp_path / "up").exists()
    assert time.monotonic() - begun < 10


def test_a_tool_that_is_not_there_is_not_started(tmp_path):
    ran = Outside(str(tmp_path / "o1"), ("zpool",), ("/nowhere/zpool",), 5.0).go()
    assert (ran.exit_code, ran.why) == (None, "not found")


def test_a_folder_that_cannot_be_made_starts_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotMind, match="could not be prepared"):
        Outside(str(tmp_path / "file" / "o1"), ("zpool",), ("/bin/true",), 5.0)


def test_a_full_disk_keeps_it_from_starting(tmp_path, monkeypatch):
    """What cannot be written down must not happen. A folder that is gone stands for a disk without room."""
    command = outside(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "o1").rmdir()
    ran = command.go()
    assert (ran.exit_code, ran.why, (tmp_path / "ran").exists()) == (None, "not started", False)


def test_a_minder_that_does_not_start_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("agents.host.command_supervisor._PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr("agents.host.command_supervisor.START_SECONDS", 0.3)
    with pytest.raises(CannotMind, match="did not start"):
        outside(tmp_path, "")
    monkeypatch.setattr("agents.host.command_supervisor._PROGRAM", "raise SystemExit(1)")
    with pytest.raises(CannotMind, match="did not start"):
        outside(tmp_path, "")


AGENT = """
import sys
from agents.host.command_supervisor import Outside
command = Outside(sys.argv[1] + "/o1", ("tool",), (sys.executable, "-I", "-c", sys.argv[2]), 30.0)
print(command.mark, flush=True)
if sys.stdin.readline():
    command.go()
"""


class Agent:
    """A process that starts a command through a minder, and is killed."""

    def __init__(self, folder, script):
        argv = [sys.executable, "-c", AGENT, str(folder), script]
        self.process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.left = Left(str(folder / "o1"), self.process.stdout.readline().strip())

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait(5)
        self.process.stdin.close()
        self.process.stdout.close()


def test_killed_before_go_nothing_ever_runs(tmp_path):
    agent = Agent(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')")
    agent.kill()
    assert agent.left.wait(10) == ""
    assert (agent.left.was_begun(), (tmp_path / "ran").exists(), agent.left.ran(())) == (False, False, None)


def test_killed_while_it_runs_the_command_ends_by_itself_and_its_exit_code_is_known(tmp_path):
    script = f"import time, sys; open({str(tmp_path / 'up')!r}, 'w'); time.sleep(1); print('done'); sys.exit(7)"
    agent = Agent(tmp_path, script)
    agent.go()
    until((tmp_path / "up").exists)
    agent.kill()
    assert agent.left.alive()
    assert agent.left.ran(()) is None
    assert agent.left.wait(10) == ""
    ran = agent.left.ran(("tool",))
    assert (ran.exit_code, ran.stdout, ran.why) == (7, b"done\n", "")


def test_when_the_minder_is_killed_too_the_command_is_still_seen_to_run_and_its_end_is_not_guessed(tmp_path):
    agent = Agent(tmp_path, f"import time; open({str(tmp_path / 'up')!r}, 'w'); time.sleep(1)")
    agent.go()
    until((tmp_path / "o1" / "child").exists)
    agent.kill()
    mind = agent.left.alive()
    os.kill(int(mind), signal.SIGKILL)
    until(lambda: agent.left.alive() != mind)
    assert agent.left.alive() != ""
    assert agent.left.wait(10) == ""
    assert (agent.left.was_begun(), agent.left.ran(())) == (True, None)


def test_another_process_by_the_same_number_is_not_taken_for_it(tmp_path):
    mark = mark_of(os.getpid())
    pid, start, boot = mark.split(" ")
    assert Left(str(tmp_path), mark).alive() == str(os.getpid())
    assert Left(str(tmp_path), f"{pid} {int(start) + 1} {boot}").alive() == ""
    assert Left(str(tmp_path), f"{pid} {start} {boot[::-1]}").alive() == ""
    assert Left(str(tmp_path), "").alive() == ""


def test_a_process_that_ended_and_was_not_collected_is_not_alive():
    child = subprocess.Popen(["/bin/true"])
    until(lambda: mark_of(child.pid) == "")
    child.wait()


def test_a_wait_ends_when_the_agent_must_stop(tmp_path):
    begun = time.monotonic()
    assert Left(str(tmp_path), mark_of(os.getpid())).wait(30, lambda: True) == str(os.getpid())
    assert time.monotonic() - begun < 5


def test_it_minds_from_a_zipapp_too(tmp_path):
    source = tmp_path / "source"
    for path in Path(agents.__file__).parent.rglob("*.py"):
        if "tests" not in path.parts:
            target = source / "agents" / path.relative_to(Path(agents.__file__).parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (source / "run.py").write_text(
        "import sys\nfrom agents.host.command_supervisor import Outside\ndef main():\n    print(Outside(sys.argv[1], ('true',), ('/bin/true',), 5.0).go().exit_code)\n"
    )
    zipapp.create_archive(source, tmp_path / "agent.pyz", main="run:main")
    output = subprocess.run(
        [sys.executable, "-I", tmp_path / "agent.pyz", str(tmp_path / "o1")], capture_output=True, text=True, check=True
    )
    assert output.stdout == "0\n"


def test_a_real_host_names_what_is_started_by_its_whole_path():
    assert LocalHost().words(("true", "-x")) == ("/usr/bin/true", "-x")
    assert LocalHost().words(("no-such-tool",)) == ("no-such-tool",)
