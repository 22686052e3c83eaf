"""Of all texts that are kept, none gives a command by hand that changes something and names a disk by its kernel name: that is another disk after the next boot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KEPT = sorted(path for path in (Path(__file__).parent / "kept").rglob("*") if path.is_file())
CHANGES = r"(?:zpool (?:replace|attach|add|detach|online|offline|labelclear|clear)|wipefs|sgdisk|sdparm|smartctl -t|mkfs[.a-z0-9]*|dd|cryptsetup|nvme format|sg_format|gpart)"
NAMED = re.compile(
    rf"`{CHANGES} [^`]{{0,300}}?(?<![\w/.-])(?:/dev/)?(?:sd[a-z]{{1,3}}[0-9]{{0,3}}|nvme[0-9]{{1,3}}n[0-9]{{1,3}}(?:p[0-9]{{1,3}})?|da[0-9]{{1,3}}|vd[a-z])(?![\w-])[^`]{{0,300}}`"
)


def test_the_pattern_finds_what_it_is_for():
    for command in ("`sdparm --save --set=WCE=0 /dev/sdzz`", "`smartctl -t short /dev/nvme0n1`", "`zpool replace tank 42 sdb`"):
        assert NAMED.search(command)
    for command in (
        "`smartctl -t short /dev/disk/by-path/LINK`",
        "`zpool replace tank 42 /dev/disk/by-id/wwn-0x5000c500a65b207b`",
        "`zpool status tank`",
    ):
        assert not NAMED.search(command)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_no_command_by_hand_names_a_disk_by_its_kernel_name(path):
    found = NAMED.search(path.read_text(encoding="utf-8", errors="replace"))
    assert found is None, found.group()[:300] if found else ""
