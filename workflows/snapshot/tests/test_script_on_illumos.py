"""The script on illumos, under each shell: it asks what the agent's collectors ask there, and what the plan of a new disk asks."""

import shutil

import pytest

from agents.host.host import Ran
from agents.operations._candidate import at_the_ends
from twin import scenarios
from twin.illumos import IllumosHost
from workflows.snapshot import reading, recorded, replay
from workflows.snapshot.tests import stage
from workflows.snapshot.tests.test_script_on_freebsd import SMALL

pytestmark = pytest.mark.skipif(shutil.which("dash") is None, reason="the shells of the script are not here")
SHELLS = [name for name, words in stage.SHELLS.items() if shutil.which(words[0])]
NEW = scenarios.lab_disk(8, 8)
BLANK = f"c0t{NEW.hex.upper()}d0"
TESTS = (("uname", "-s"), ("id", "-u"))


def staged(tmp_path, *, ends=b"", **more):
    (tmp_path / "twin").mkdir()
    host = IllumosHost(scenarios.host(tmp_path / "twin", scenarios.drifted(), scenarios.Clock()), **more)
    seen, expected = stage.traced(host)
    for argv in TESTS:
        seen.run(argv, 1)
    front = at_the_ends(BLANK, NEW.size_bytes)[2]
    parts = {"count=4": 4 << 20, f"iseek={front}": NEW.size_bytes - (int(front) << 20)}
    for word, size in parts.items():
        argv = ("dd", f"if=/dev/rdsk/{BLANK}p0", "bs=1048576", word)
        seen.ran[argv] = (Ran(argv, 0, ends.ljust(size, b"\0"), b"", 0.0), 60)
    stage.build(tmp_path, seen)
    (tmp_path / "root").mkdir(exist_ok=True)
    (tmp_path / "bin").mkdir()
    for tool in (*SMALL, "ls"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
    return host, seen, expected


@pytest.mark.parametrize("shell", SHELLS)
def test_the_archive_gives_the_captures_that_the_agent_would_make(tmp_path, shell):
    host, seen, expected = staged(tmp_path)
    written, _ = stage.collect(tmp_path, shell)
    recording = recorded.read(stage.parts(written))
    about = recording.about
    assert (about["system"], about["hostid"], about["boot_id"]) == ("SunOS", host.node.hostid, host.boot_id)
    found = {(one.source, one.key): one.body() for one in replay.captures(recording)}
    assert found == {(one.source, one.key): one.body() for one in expected}
    of_the_test = {*TESTS, *(argv for argv in seen.ran if argv[0] == "dd")}
    asked = {argv: one.limit for argv, one in recording.asked.items() if argv[0] not in ("ends_of_disk", "zdb")}
    assert asked == {argv: limit for argv, (_, limit) in seen.ran.items() if argv not in of_the_test and argv[0] != "zdb"}
    ends = at_the_ends(BLANK, NEW.size_bytes)
    assert [argv for argv in recording.asked if argv[0] == "ends_of_disk"] == [ends], "of the disk that nobody has open alone"
    read, twins = recording.asked[ends].stdout.decode().split(), host.run(ends, 1).stdout.decode().split()
    assert read == twins, "the tools of this machine and the twin print the same"
    assert isinstance(reading.safely([("archive", written)]), reading.Snapshot), "manifest and captures name one host and one boot"


@pytest.mark.parametrize("more", [{"zone": "web"}, {"made": ("1987-01-01 00:00:04.123456789", "1987-01-01 00:00:05.123456789")}])
def test_a_doubtful_boot_is_none(tmp_path, more):
    staged(tmp_path, **more)
    written, _ = stage.collect(tmp_path, "dash")
    assert recorded.read(stage.parts(written)).about["boot_id"] == ""


def test_what_stands_at_an_end_is_in_the_archive(tmp_path):
    staged(tmp_path, ends=b"\0" * 512 + b"EFI PART")
    written, _ = stage.collect(tmp_path, "dash")
    text = recorded.read(stage.parts(written)).asked[at_the_ends(BLANK, NEW.size_bytes)].stdout.decode()
    assert "45 46 49 20 50 41 52 54" in text


def test_oracles_solaris_is_not_asked_as_illumos(tmp_path):
    staged(tmp_path, answers={("uname", "-o"): (0, "Solaris\n", "")})
    written, _ = stage.collect(tmp_path, "dash")
    recording = recorded.read(stage.parts(written))
    assert not [argv for argv in recording.asked if argv[0] in ("diskinfo", "fuser", "ends_of_disk")]
    assert recording.about["boot_id"] == ""
