"""The script on FreeBSD, under each shell: it asks what the agent's collectors ask there, and what the plan of a new disk asks."""

import shutil

import pytest

from twin import scenarios
from twin.freebsd import FreeBSDHost
from workflows.snapshot import reading, recorded, replay
from workflows.snapshot.tests import stage

pytestmark = pytest.mark.skipif(shutil.which("dash") is None, reason="the shells of the script are not here")
SHELLS = [name for name, words in stage.SHELLS.items() if shutil.which(words[0])]
SMALL = (
    *("awk", "cat", "cp", "cut", "date", "dd", "grep", "gzip", "head", "kill", "md5sum", "mkdir", "mktemp", "mv", "od", "printf"),
    *("readlink", "rm", "sed", "sh", "sleep", "sort", "tail", "tar", "tr", "wc"),
)
TREES = {  # what lies on da4, which is free
    "nothing": (),
    "a table with a swap partition and a large one": (
        "1 PART da4p1 2097152 512 i 1 o 20480 ty freebsd-swap xs GPT xt 516e7cb5-6ecf-11d6-8ff8-00022d09712b",
        "1 PART da4p2 268435456 512 i 2 o 2117632 ty freebsd-zfs xs GPT xt 516e7cba-6ecf-11d6-8ff8-00022d09712b",
        "2 LABEL gpt/tank4 268435456 512 i 0 o 0",
    ),
    "geli": ("1 ELI da4.eli 536866816 4096", "2 PART da4.elip1 1048576 4096 i 1 o 0 ty freebsd-ufs xs GPT xt x"),
}


def staged(tmp_path, **more):
    (tmp_path / "twin").mkdir()
    host = FreeBSDHost(scenarios.host(tmp_path / "twin", scenarios.drifted(), scenarios.Clock()), **more)
    seen, expected = stage.traced(host)
    for argv in (("uname", "-s"), ("uname", "-n"), ("id", "-u")):
        seen.run(argv, 1)
    for name in ("da4", "da4p1", "da4p2"):
        for argv in (("fstyp", "-u"), ("file", "-bs")):
            seen.run((*argv, f"/dev/{name}"), 20)
    stage.build(tmp_path, seen)
    (tmp_path / "root").mkdir(exist_ok=True)
    (tmp_path / "bin").mkdir()
    for tool in SMALL:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
    return host, seen, expected


@pytest.mark.parametrize(
    ("shell", "tree"),
    [*((shell, "a table with a swap partition and a large one") for shell in SHELLS), ("dash", "nothing"), ("dash", "geli")],
)
def test_the_archive_gives_the_captures_that_the_agent_would_make(tmp_path, shell, tree):
    host, seen, expected = staged(tmp_path, stacked={"da4": TREES[tree]})
    written, _ = stage.collect(tmp_path, shell)
    recording = recorded.read(stage.parts(written))
    about = recording.about
    assert (about["system"], about["hostid"], about["boot_id"]) == ("FreeBSD", host.node.hostid, host.boot_id)
    found = {(one.source, one.key): one.body() for one in replay.captures(recording)}
    assert found == {(one.source, one.key): one.body() for one in expected}
    of_the_test = {("uname", "-s"), ("uname", "-n"), ("id", "-u"), *(argv for argv in seen.ran if argv[0] in ("fstyp", "file"))}
    asked = {argv: one.limit for argv, one in recording.asked.items() if argv[0] not in ("fstyp", "file", "zdb")}
    assert asked == {argv: limit for argv, (_, limit) in seen.ran.items() if argv not in of_the_test and argv[0] != "zdb"}
    parts = [row.split()[2] for row in TREES[tree] if row.startswith("1 PART")]
    assert [argv[-1] for argv in recording.asked if argv[0] == "fstyp"] == [f"/dev/{name}" for name in ("da4", *parts)]
    assert isinstance(reading.safely([("archive", written)]), reading.Snapshot), "manifest and captures name one host and one boot"
