"""The script under each shell: it asks what the agent's collectors ask, and its archive gives the captures that the agent would make."""

import shutil
import subprocess
from functools import partial

import pytest

from twin import scenarios
from twin.light_tools import with_tool
from workflows.runbooks.take_over.rehearsal import the_dead_one
from workflows.snapshot import recorded, replay
from workflows.snapshot.tests import stage

FOR_PLANS = ("blkid",)  # no collector asks it; the plan of an operation does

pytestmark = pytest.mark.skipif(shutil.which("dash") is None, reason="the shells of the script are not here")
SHELLS = [name for name, words in stage.SHELLS.items() if shutil.which(words[0])]


def host(tmp_path, node=None):
    (tmp_path / "twin").mkdir()
    return scenarios.host(tmp_path / "twin", node or scenarios.tiny(), scenarios.Clock())


NODES = {
    "2.3": lambda: scenarios.tiny("2.3.2-1"),
    "0.8": lambda: scenarios.tiny("0.8.6-1"),
    "a member is away": scenarios.drifted,
    "a spare stands in": scenarios.spare_in_use,
    "not imported": scenarios.not_imported,
    **{f"its lights are switched by {tool}": partial(with_tool, scenarios.tiny(), tool) for tool in ("ledctl", "sas3ircu", "perccli")},
    "its firmware has serial numbers": lambda: the_dead_one(0.0),
}


@pytest.mark.parametrize("which", NODES)
def test_of_other_nodes_too(tmp_path, which):
    seen, expected = stage.traced(host(tmp_path, NODES[which]()))
    stage.build(tmp_path, seen)
    written, _ = stage.collect(tmp_path, "dash")
    recording = recorded.read(stage.parts(written))
    found = {(one.source, one.key): one.body() for one in replay.captures(recording)}
    assert found == {(one.source, one.key): one.body() for one in expected}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_archive_gives_the_captures_that_the_agent_would_make(tmp_path, shell):
    seen, expected = stage.traced(host(tmp_path))
    stage.build(tmp_path, seen)
    written, _ = stage.collect(tmp_path, shell)
    recording = recorded.read(stage.parts(written))
    found = {(one.source, one.key): one.body() for one in replay.captures(recording)}
    assert found == {(one.source, one.key): one.body() for one in expected}
    asked = {argv: one.limit for argv, one in recording.asked.items() if argv[0] not in FOR_PLANS}
    assert asked == {argv: limit for argv, (_, limit) in seen.ran.items()}, "the script asks what the agent asks, with its deadlines"
    assert not list(tmp_path.glob("slotlight.*")), "nothing is left on the host"


def staged(tmp_path, node=None):
    seen, expected = stage.traced(host(tmp_path, node))
    stage.build(tmp_path, seen)
    return seen, expected


def captured(tmp_path, shell="dash", **more):
    written, seconds = stage.collect(tmp_path, shell, **more)
    recording = recorded.read(stage.parts(written))
    return recording, {(one.source, one.key): one for one in replay.captures(recording)}, seconds


def asked(tmp_path) -> str:
    return (tmp_path / "tools" / "asked").read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_question_that_hangs_is_given_up_and_holds_up_nothing_else(tmp_path, shell):
    staged(tmp_path)
    label = ("zdb", "-l", "/dev/sdb1")
    stage.place(tmp_path / "tools", label, ".hangs").touch()
    text = stage.SCRIPT.read_text().replace("ask 20 zdb -l", "ask 2 zdb -l")
    recording, found, seconds = captured(tmp_path, shell, script=text)
    assert recording.asked[label].end == "late"
    assert found["zdb_label", "sdb1"].outcome == "failed"
    assert "timeout" in found["zdb_label", "sdb1"].reason
    assert found["zdb_label", "sda1"].outcome == "data"
    assert found["smart", "sdb"].outcome == "data"
    assert seconds < 60


def test_while_zpool_hangs_no_other_zpool_is_started(tmp_path):
    staged(tmp_path)
    stage.place(tmp_path / "tools", ("zpool", "status", "-P", "-p"), ".hangs").touch()
    text = stage.SCRIPT.read_text().replace("zpool_ask 20 status -P", "zpool_ask 2 status -P")
    recording, found, _ = captured(tmp_path, script=text)
    assert found["zpool_status", ""].outcome == "failed"
    assert recording.asked["zpool", "list", "-v", "-p", "-H", "-g"].end == "held"
    assert "another zpool command had not answered" in found["zpool_list", ""].reason
    assert [line for line in asked(tmp_path).splitlines() if line.startswith("zpool ")] == ["zpool --version", "zpool status -P -p"]
    assert found["zdb_label", "sda1"].outcome == "data", "disks are read all the same"


def test_a_disk_that_sleeps_is_not_woken(tmp_path):
    staged(tmp_path)
    smart = ("smartctl", "-j", "-x", "-n", "standby", "/dev/sdc")
    stage.place(tmp_path / "tools", smart, ".out").write_text("smartctl 7.3\n\nDevice is in STANDBY mode, exit(2)\n")
    stage.place(tmp_path / "tools", smart, ".code").write_text("2")
    recording, found, _ = captured(tmp_path)
    assert recording.asleep == {"sdc"}
    for source in ("zdb_label", "smart"):
        key = "sdc1" if source == "zdb_label" else "sdc"
        assert (found[source, key].outcome, found[source, key].reason) == ("nothing", "sdc sleeps and was not woken")
    assert "would be woken by it" in found["zpool_import", ""].reason
    woken = [line for line in asked(tmp_path).splitlines() if "/dev/sdc" in line and "smartctl" not in line]
    assert woken == []
    assert "zpool import" not in asked(tmp_path)


def test_without_smartctl_hdparm_says_who_sleeps(tmp_path):
    staged(tmp_path)
    (tmp_path / "tools" / "smartctl").unlink()
    (tmp_path / "tools" / "hdparm").write_text(
        '#!/bin/sh\necho "hdparm $*" >>"${0%/*}/asked"\nstate=active/idle\n[ "$2" = /dev/sdd ] && state=standby\n'
        'printf "\\n%s:\\n drive state is:  %s\\n" "$2" "$state"\n'
    )
    (tmp_path / "tools" / "hdparm").chmod(0o755)
    recording, found, _ = captured(tmp_path)
    assert recording.asleep == {"sdd"}
    assert found["zdb_label", "sdd1"].reason == "sdd sleeps and was not woken"
    assert found["smart", "sda"].reason == "smartctl is not installed"
    assert found["zdb_label", "sda1"].outcome == "data"


def test_output_without_end_is_cut_and_said_to_be(tmp_path):
    staged(tmp_path)
    (tmp_path / "tools" / "dmesg").write_text("#!/bin/sh\nexec cat /dev/zero\n")
    (tmp_path / "tools" / "dmesg").chmod(0o755)
    recording, found, _ = captured(tmp_path)
    assert recording.asked["dmesg",].end == "too-much"
    assert len(recording.asked["dmesg",].stdout) <= 4 * 1024 * 1024
    assert found["kernel_log", ""].outcome == "failed"


def test_what_a_login_shell_prints_around_it_does_not_spoil_it(tmp_path):
    staged(tmp_path)
    recording, found, _ = captured(tmp_path, noise="echo Welcome; printf 'no newline'; ")
    assert found["zpool_status", ""].outcome == "data"
    assert recording.about["host"] == "oss01"


def test_without_gzip_it_is_a_plain_tar(tmp_path):
    staged(tmp_path)
    bare_tools(tmp_path, without=("gzip", "timeout"))
    written, _ = stage.collect(tmp_path, "dash")
    assert b"ustar" in written[:2000]
    assert recorded.read(stage.parts(written)).about["host"] == "oss01"


def bare_tools(tmp_path, without):
    """Only what the script's head says that it needs."""
    (tmp_path / "bin").mkdir()
    needed = "sh sleep date mktemp rm cat wc dd mv grep sed tail head od tr readlink tar gzip timeout mkdir uname id md5sum cut"
    for name in needed.split():
        if name not in without:
            (tmp_path / "bin" / name).symlink_to(shutil.which(name))


def test_it_reads_no_more_of_settings_than_what_is_about_zfs(tmp_path):
    staged(tmp_path)
    root = tmp_path / "root"
    for path, text in {
        "etc/environment": "http_proxy=http://user:secret@proxy\nZPOOL_AUTO_POWER_ON_SLOT=1\n",
        "etc/modprobe.d/net.conf": "options net key=secret\n",
        "proc/cmdline": "root=/dev/vda password=secret zfs.zfs_arc_max=1\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    written, _ = stage.collect(tmp_path, "dash")
    held = stage.parts(written)
    assert b"secret" not in b"".join(held.values())
    assert b"ZPOOL_AUTO_POWER_ON_SLOT=1" in held[recorded.FILES]
    assert b"zfs.zfs_arc_max=1" in held[recorded.FILES]


OF_FREEBSD = {
    "geom": "disk list",
    "camcontrol": "devlist -v",
    "swapinfo": "-k",
    "mount": "-p",
    "fstyp": '-u "/dev/$name"',
    "file": '-bs "/dev/$name"',
}


OF_ILLUMOS = {
    "diskinfo -Hcp",
    "ls -l /dev/rdsk",
    "ls -dE /proc/0 /proc/3",
    'fuser -d "/dev/rdsk/${disk}p0"',
    'prtvtoc -h "/dev/rdsk/${disk}s0"',
    "stmfadm list-lu -v",
    "swap -l",
    "uname -o",
    "uname -n",
    "uname -v",
    "zonename",
    'ends_of_disk "$1"',
}


def test_it_changes_nothing_and_asks_only_what_reads():
    """Each command of the script, in its only forms, by eye and by this list."""
    words = [line.split() for line in stage.SCRIPT.read_text().splitlines()]
    found = {line[i + 2] for line in words for i, word in enumerate(line) if word == "ask" and i + 2 < len(line) and line[i + 1].isdigit()}
    assert found == {
        "hostid",
        "zpool",
        "zdb",
        "lsscsi",
        "dmesg",
        "sysctl",
        "multipathd",
        "smartctl",
        "hdparm",
        "blkid",
        "sg_logs",
        "sdparm",
        "sg_ses",
        "ledctl",
        '"$tool"',
        *OF_FREEBSD,
        *(form.split()[0] for form in OF_ILLUMOS),
    }
    forms = {line[2]: " ".join(line[3:]) for line in words if line[:1] == ["ask"] and len(line) > 2 and line[2] in OF_FREEBSD}
    assert forms == OF_FREEBSD, "each of them reads in this form"
    tools = {form.split()[0] for form in OF_ILLUMOS}
    of_illumos = {
        " ".join(line[at:]).split(" $(")[0].split(' "$(')[0]
        for line in words
        for at, word in enumerate(line)
        if word in tools and line[at - 2 : at - 1] == ["ask"]
    }
    assert of_illumos == OF_ILLUMOS, "each of them reads in this form"
    ends = stage.SCRIPT.read_text().partition("ends_of_disk() {")[2].partition("\n}\n")[0]
    assert (ends.count("dd if="), "of=" in ends) == (2, False), "what dd reads goes to od"
    by_name = {" ".join(line[3:]) for line in words if line[:1] == ["ask"] and '"$tool"' in line}
    assert by_name == {"list", '"$number" display', "/call/eall/sall show all J nolog"}
    assert "ask 30 ledctl --list-slots" in stage.SCRIPT.read_text()
    verbs = {
        line[i + 2] for line in words for i, word in enumerate(line) if word == "zpool_ask" and i + 2 < len(line) and line[i + 1].isdigit()
    }
    assert verbs == {"status", "list", "get", "iostat", "events", "history", "import"}
    assert "zpool_ask 300 import\n" in stage.SCRIPT.read_text(), "a listing, and nothing is named"


@pytest.mark.parametrize("options", [["-x"], ["-t", "soon"]])
def test_used_wrongly_it_says_how(options):
    ran = subprocess.run(("sh", str(stage.SCRIPT), *options), capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == 2
    assert "usage:" in ran.stderr


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing():
    ran = subprocess.run(("shellcheck", "-s", "sh", str(stage.SCRIPT)), capture_output=True, text=True, timeout=120, check=False)
    assert not ran.stdout
