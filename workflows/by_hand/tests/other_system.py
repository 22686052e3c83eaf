"""What the nodes of other systems than Linux share for snippets, and what holds of a snippet on each of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.collectors import by_hand
from workflows.by_hand import snippet
from workflows.by_hand.snippet import Paths
from workflows.by_hand.tests.node import NONCE, OTHER_GUID, POOL_GUID, STATUS, VDEV_GUID, until
from workflows.by_hand.tests.node import plan as linux_plan

ANSWERS = {
    "guid": f"{POOL_GUID}\n",
    "status": STATUS,
    "imported": "17\n",
    "answer": "all is well\n",
    "code": "0",
    "uid": "0",
    "member-label": f"    guid: {OTHER_GUID}\n    pool_guid: {POOL_GUID}\n        guid: 77\n",
}
OFFLINE = {
    "operation": "zpool_offline",
    "params": {"pool": "tank", "pool_guid": POOL_GUID, "vdev_guid": OTHER_GUID},
    "argv": ["zpool", "offline", "tank", OTHER_GUID],
}


def plan_on(link: str, wwid: str, more: Mapping[str, str], changes: dict):
    """The plan of a replacement by this disk there; `more` is what is written of the node besides."""
    there = linux_plan()["by_hand"] | {**more, "disks": [[link, wwid, "none"]]}
    return linux_plan() | {
        "params": linux_plan()["params"] | {"wwid": wwid},
        "argv": ["zpool", "replace", "tank", VDEV_GUID, link],
        "by_hand": there | changes.pop("by_hand", {}),
        **changes,
    }


@dataclass(frozen=True)
class OtherSystemNode:
    """What it answers stands in files of `folder`, so that a test may change one thing."""

    folder: Path

    def answers(self, texts: Mapping[str, str]) -> None:
        for name, text in {**ANSWERS, **texts}.items():
            (self.folder / name).write_text(text)

    def tools(self, scripts: Mapping[str, str]) -> None:
        (self.folder / "bin").mkdir(exist_ok=True)
        for name, text in scripts.items():
            (self.folder / "bin" / name).write_text(text.replace("$NODE", str(self.folder)))
            (self.folder / "bin" / name).chmod(0o755)

    def never(self, names: Iterable[str]) -> None:
        """Tools of other systems: none of them may be asked."""
        self.tools({name: f'#!/bin/sh\necho {name} >>"$NODE/of-others"\nexit 1\n' for name in names})

    def paths(self, shell: str = "sh", **more: str) -> Paths:
        return Paths(f"{self.folder}/bin:{os.defpath}:/usr/bin:/bin", shell, marks_without_run=str(self.folder / "run"), **more)

    def run(self, snippet: str, pasted_into: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
        """As somebody pastes it."""
        return subprocess.run(pasted_into, input=snippet, capture_output=True, text=True, timeout=60, check=False)

    def lines(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""


def run_once(node: OtherSystemNode, text: str, shell: str, boot_id: str) -> str:
    """What it prints where it runs; its record is that of this boot."""
    ended = node.run(text, tuple(shell.split()))
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert f"nonce {NONCE}" in ended.stdout
    assert "DIFFERS" not in ended.stdout
    assert node.lines("of-others") == ""
    mark = node.folder / "run" / NONCE
    record = "".join(f"{NONCE}/{name}:{line}\n" for name in ("begun", "ended", "output") for line in (mark / name).read_text().splitlines())
    (read,) = by_hand.parse(record)
    assert (read.exit_code, read.output, read.hostid, read.boot_id, len(read.output_digest)) == (
        "0",
        "all is well",
        "007f0101",
        boot_id,
        64,
    )
    return ended.stdout


def run_again(node: OtherSystemNode, text: str, shell: str, ran: str) -> None:
    node.run(text, tuple(shell.split()))
    again = node.run(text, tuple(shell.split()))
    assert (again.returncode, node.lines("ran")) == (snippet.BEGUN_BEFORE, ran)


def differs(node: OtherSystemNode, text: str, shell: str, expected: str) -> None:
    ended = node.run(text, tuple(shell.split()))
    assert (ended.returncode, node.lines("ran")) == (snippet.DIFFERS, ""), ended.stdout
    assert expected in ended.stdout
    assert not (node.folder / "run").exists()


def compares_the_label_of_a_member(node: OtherSystemNode, plan, path: str, wwid: str, shell: str) -> None:
    """A member is taken offline where its label is the one of the plan; not where it is another."""
    grounds = {"members": [[OTHER_GUID, "ONLINE"]], "disks": [[path, wwid, OTHER_GUID]]}

    def made(nonce: str) -> str:
        return snippet.make(plan(by_hand=grounds, **OFFLINE), nonce, until(), node.paths(shell))

    ended = node.run(made(NONCE), tuple(shell.split()))
    assert (ended.returncode, node.lines("ran")) == (0, f"offline tank {OTHER_GUID}\n"), ended.stdout
    (node.folder / "member-label").write_text(f"    guid: {VDEV_GUID}\n    pool_guid: {POOL_GUID}\n")
    assert node.run(made(NONCE[::-1]), tuple(shell.split())).returncode == snippet.DIFFERS
