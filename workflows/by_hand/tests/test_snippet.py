"""The snippet under every shell that is here: it runs its command once, on this boot of this host, with this disk, or says what differs."""

from __future__ import annotations

import shutil

import pytest

from agents.collectors import by_hand
from agents.domain.wwid import by_id_path
from workflows.by_hand import snippet
from workflows.by_hand.tests.node import DISK, NO_LABEL, NONCE, OTHER_GUID, POOL_GUID, STATUS, VDEV_GUID, WWID, FakeNode, plan, until

REPLACE = f"replace tank {VDEV_GUID} {DISK}\n"


@pytest.fixture
def node(tmp_path):
    return FakeNode.build(tmp_path)


def made(node, shell="sh", **changes):
    return snippet.make(plan(**changes), NONCE, until(), node.paths(shell))


def test_it_checks_and_runs_the_command_of_the_plan(node, shell):
    (node.folder / "answer").write_text("all is well\n")
    ended = node.run(made(node, shell), tuple(shell.split()))
    assert (ended.returncode, node.ran) == (0, REPLACE), ended.stdout + ended.stderr
    assert f"nonce {NONCE}" in ended.stdout
    assert "all is well" in ended.stdout
    assert "DIFFERS" not in ended.stdout
    assert ended.stderr == ""


def test_a_second_run_runs_nothing(node, shell):
    node.run(made(node, shell))
    again = node.run(made(node, shell))
    assert (again.returncode, node.ran) == (snippet.BEGUN_BEFORE, REPLACE)
    assert "begun before" in again.stdout


def test_what_ran_is_recorded_where_the_agent_reads_it(node, shell):
    (node.folder / "answer").write_text("no such device\n")
    (node.folder / "code").write_text("2")
    assert node.run(made(node, shell)).returncode == 1
    mark = node.folder / "run" / NONCE
    text = "".join(f"{NONCE}/{name}:{line}\n" for name in ("begun", "ended", "output") for line in (mark / name).read_text().splitlines())
    (read,) = by_hand.parse(text)
    assert (read.nonce, read.exit_code, read.output, read.hostid) == (NONCE, "2", "no such device", "007f0101")
    assert len(read.output_digest) == 64


DIFFERENCES = {
    "another host": ("hostid", "deadbeef\n", "hostid: 'deadbeef'"),
    "another boot": ("boot_id", "22222222-2222-3333-4444-555555555555\n", "boot id"),
    "not root": ("uid", "1000", "user"),
    "another pool of that name": ("guid", f"{int(POOL_GUID) + 1}\n", "pool guid of tank"),
    "no pool": ("guid", "", "pool guid of tank"),
    "the member is back": ("status", STATUS.replace("UNAVAIL", "ONLINE "), f"member {VDEV_GUID}: 'ONLINE'"),
    "the member is gone": ("status", STATUS.replace(VDEV_GUID, "5"), "not in the tree"),
    "the disk got a label": ("label", f"    guid: {OTHER_GUID}\n    pool_guid: 7\n", "planned as none"),
    "the disk cannot be read": ("label", "failed to open '/dev/sdq': Input/output error\n", "does not say that it carries no label"),
    "one label cannot be read": ("label", NO_LABEL.replace("unpack label 2", "read label 2"), "its labels cannot be read"),
    "the labels are from memory": ("label", f"failed to invalidate cache '/dev/sdq' : No such device\n{NO_LABEL}", "and not the disk"),
    "no disk behind the link": ("link", "", "not there"),
}


@pytest.mark.parametrize(("name", "text", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_it_says_what_differs_and_runs_nothing(node, shell, name, text, expected):
    (node.folder / name).write_text(text)
    ended = node.run(made(node, shell))
    assert (ended.returncode, node.ran) == (snippet.DIFFERS, "")
    assert expected in ended.stdout
    assert not (node.folder / "run").exists()


def test_another_disk_behind_the_link_is_seen(node, shell):
    """udev's link may lag behind: the WWID is what the kernel says of the device in this moment."""
    node.set_wwid("naa.5000c500ffffffff")
    ended = node.run(made(node, shell))
    assert (ended.returncode, node.ran) == (snippet.DIFFERS, "")
    assert "5000c500ffffffff" in ended.stdout


KINDS = {
    "eui": ("eui:0025385b11b0d0a1", "eui.0025385b11b0d0a1", "eui.0025385b11b0d0a2"),
    "nvme": ("nvme:8086-4356-494e-00000001", "nvme.8086-4356-494e-00000001", "nvme.8086-4356-494e-00000002"),
    "ata": (
        "ata:WDC_WD40EFRX-68N32N0:WD-WCC7K0ABCDEF",
        f"t10.ATA     {'WDC WD40EFRX-68N32N0':<40}{'WD-WCC7K0ABCDEF':>20}",
        f"t10.ATA     {'WDC WD40EFRX-68N32N0':<40}{'WD-WCC7K0ABCDEE':>20}",
    ),
}


@pytest.mark.parametrize(("wwid", "kernel", "other"), KINDS.values(), ids=KINDS)
def test_a_disk_without_a_wwn_is_compared_by_what_the_kernel_calls_it(node, shell, wwid, kernel, other):
    link = by_id_path(wwid)
    changes = {"by_hand": plan()["by_hand"] | {"disks": [[link, wwid, "none"]]}, "argv": ["zpool", "replace", "tank", VDEV_GUID, link]}
    node.set_wwid(other)
    assert node.run(made(node, shell, **changes), tuple(shell.split())).returncode == snippet.DIFFERS
    node.set_wwid(kernel)
    ended = node.run(made(node, shell, **changes), tuple(shell.split()))
    assert (ended.returncode, node.ran) == (0, f"replace tank {VDEV_GUID} {link}\n"), ended.stdout


def test_the_label_of_a_member_is_compared_guid_by_guid(node, shell):
    """As text: 9223372036854775809 and ...810 are one number to a tool that counts in floating point."""
    grounds = plan()["by_hand"] | {"disks": [[DISK, WWID, VDEV_GUID]]}
    label = "    guid: {}\n    pool_guid: " + POOL_GUID + "\n        guid: 77\n"
    (node.folder / "label").write_text(label.format(OTHER_GUID))
    assert node.run(made(node, shell, by_hand=grounds)).returncode == snippet.DIFFERS
    (node.folder / "label").write_text(label.format(VDEV_GUID))
    assert node.run(made(node, shell, by_hand=grounds)).returncode == 0


def test_what_has_run_out_runs_nothing(node, shell):
    ended = node.run(snippet.make(plan(), NONCE, 1, node.paths(shell)))
    assert (ended.returncode, node.ran) == (snippet.DIFFERS, "")
    assert "run out" in ended.stdout


def test_a_node_whose_clock_is_behind_runs_nothing(node, shell):
    """It would run the snippet long after it was settled that nothing ran."""
    ended = node.run(snippet.make(plan(), NONCE, until() + snippet.CLOCK_SECONDS + 600, node.paths(shell)))
    assert (ended.returncode, node.ran) == (snippet.DIFFERS, "")
    assert "clock of this node is behind" in ended.stdout


def test_a_pool_that_was_imported_meanwhile_is_not_imported_again(node, shell):
    grounds = plan()["by_hand"] | {"imported": "no", "members": [], "disks": []}
    assert node.run(made(node, shell, by_hand=grounds)).returncode == 0
    (node.folder / "imported").write_text(f"17\n{POOL_GUID}\n")
    ended = node.run(snippet.make(plan(by_hand=grounds), NONCE[::-1], until(), node.paths(shell)))
    assert ended.returncode == snippet.DIFFERS
    assert "imported here" in ended.stdout


def test_nowhere_to_record_is_nothing_run(node, shell):
    (node.folder / "run").write_text("a file where the folder should be")
    ended = node.run(made(node, shell))
    assert (ended.returncode, node.ran) == (snippet.BEGUN_BEFORE, "")


@pytest.mark.parametrize("left_out", [1, 2, 5, 40])
def test_a_paste_that_was_cut_runs_nothing(node, shell, left_out):
    lines = made(node, shell).splitlines(keepends=True)
    node.run("".join(lines[:-1][: -left_out or None]), tuple(shell.split()))
    assert node.ran == ""


HOSTILE = ("$(touch /tmp/x)", "`reboot`", "a'b", 'a"b', "a;b", "a b", "*", "~", "a\\b", "-rf", "#x", "${HOME}")


@pytest.mark.parametrize("word", HOSTILE)
def test_the_command_gets_each_word_as_it_is(node, shell, word):
    ended = node.run(made(node, shell, argv=["zpool", "set", word, "tank"]))
    assert node.ran == f"set {word} tank\n", ended.stdout + ended.stderr


@pytest.mark.parametrize("char", ["\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x9b", "\u202e", "\u2028", "é", "!"])
@pytest.mark.parametrize("where", ["argv", "params", "wwid"])
def test_a_control_character_is_refused(where, char):
    changed = {
        "argv": {"argv": ["zpool", "replace", f"ta{char}nk"]},
        "params": {"params": plan()["params"] | {"pool": f"ta{char}nk"}},
        "wwid": {"by_hand": plan()["by_hand"] | {"disks": [[DISK, f"naa:5{char}0", "none"]]}},
    }[where]
    with pytest.raises(snippet.CannotMake):
        snippet.make(plan(**changed), NONCE, until())


@pytest.mark.parametrize("word", ["/dev/sda", "sdq1", "nvme0n1", "/dev/dm-3", "6:0:89:0"])
def test_a_kernel_name_is_refused(word):
    with pytest.raises(snippet.CannotMake, match="another disk"):
        snippet.make(plan(argv=["zpool", "replace", "tank", VDEV_GUID, word]), NONCE, until())


def test_no_snippet_is_made_of_a_plan_for_an_order_or_with_a_made_up_nonce():
    ordinary = {name: value for name, value in plan().items() if name != "by_hand"}
    with pytest.raises(snippet.CannotMake):
        snippet.make(ordinary, NONCE, until())
    with pytest.raises(snippet.CannotMake):
        snippet.make(plan(), "$(reboot)", until())


MAP = "/dev/disk/by-id/dm-uuid-mpath-35000c500a65b207b"


def behind_a_map(node, paths=("sda", "sdq"), holders=()):
    """The link leads to dm-3, which has these paths; each reports the disk and is held by dm-3 alone."""
    (node.folder / "link").write_text("/dev/dm-3\n")
    device = node.folder / "device"
    (device / "dm-3" / "dm").mkdir(parents=True)
    (device / "dm-3" / "dm" / "uuid").write_text("mpath-35000c500a65b207b\n")
    (device / "dm-3" / "holders").mkdir()
    for holder in holders:
        (device / "dm-3" / "holders" / holder).mkdir()
    for path in paths:
        (device / path / "device").mkdir(parents=True, exist_ok=True)
        (device / path / "device" / "wwid").write_text("naa.5000c500a65b207b\n")
        (device / path / "holders" / "dm-3").mkdir(parents=True)
        (device / "dm-3" / "slaves" / path).mkdir(parents=True)


def mapped(node, shell="sh"):
    grounds = {**plan()["by_hand"], "disks": [[MAP, WWID, "none"]]}
    return made(node, shell, argv=["zpool", "replace", "tank", VDEV_GUID, MAP], by_hand=grounds)


def test_a_map_is_named_by_its_uuid_and_each_path_of_it_is_asked_who_it_is(node, shell):
    behind_a_map(node)
    ended = node.run(mapped(node, shell), tuple(shell.split()))
    assert (ended.returncode, node.ran) == (0, f"replace tank {VDEV_GUID} {MAP}\n"), ended.stdout + ended.stderr
    assert "path sdq of dm-3: WWID naa.5000c500a65b207b, as planned" in ended.stdout
    assert ended.stderr == ""


def another_disk(node):
    (node.folder / "device" / "sdq" / "device" / "wwid").write_text("naa.5000c500a65b208b\n")


def another_map(node):
    (node.folder / "device" / "dm-3" / "dm" / "uuid").write_text("mpath-35000c500a65b208b\n")


def a_second_holder(node):
    (node.folder / "device" / "sdq" / "holders" / "md0").mkdir()


def a_user_of_the_map(node):
    (node.folder / "device" / "dm-3" / "holders" / "dm-4").mkdir()


def no_path(node):
    shutil.rmtree(node.folder / "device" / "dm-3" / "slaves")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (another_disk, "path sdq of dm-3: WWID 'naa.5000c500a65b208b', planned as naa.5000c500a65b207b"),
        (another_map, "WWID 'mpath-35000c500a65b208b'"),
        (a_second_holder, "path sdq: held by md0 too"),
        (a_user_of_the_map, "map dm-3: held by dm-4"),
        (no_path, "map dm-3: no path of it is there"),
    ],
)
def test_a_map_that_is_not_as_planned_runs_nothing(node, shell, change, expected):
    behind_a_map(node)
    change(node)
    ended = node.run(mapped(node, shell), tuple(shell.split()))
    assert (ended.returncode, node.ran) == (snippet.DIFFERS, "")
    assert expected in ended.stdout


def test_of_a_disk_without_a_map_the_snippet_has_no_word_of_one(node):
    assert "paths_of" not in made(node)
