"""The twin plays every scene that a real node has played, and says the same, command by command."""

from __future__ import annotations

import re
import shlex

import pytest

from agents.tests import scenes
from agents.tests.scenes import SCENES, Printed, Scene, Transcript
from twin.build import add_pool, guid_of, member, partition, top
from twin.disk_kinds import without_shelf
from twin.host import TwinHost
from twin.lab_image import image_of
from twin.model import Label, Node, Partition, Pool
from twin.scenarios import LAB_DISK_BYTES, Clock, host, lab_disk, lab_node, leaf_on, plug, suspend, unplug
from twin.vdevs import pool_state

AGES = 1e9
MIB = 1 << 20
PLAYED = [(release, name) for name in SCENES for release in scenes.played(name)]


def stage(scene: Scene, release: str) -> Node:
    disks = [lab_disk(n, n) for n in range(scene.disks)]
    node = lab_node(f"{release}-1", disks)
    if not image_of(release).bays_known:
        without_shelf(node)
    node.knobs.resilver_seconds = 2.0
    for name, words in scene.pools.items():
        _add(node, scene, name, words)
    return node


def _add(node: Node, scene: Scene, name: str, words: str) -> None:
    """A pool of the words behind `zpool create`."""
    kind, *members = words.partition(" spare ")[0].split()
    disks = [node.disks[int(word[1:])] for word in members]
    leaves = [member(node, disk, guid_of(name, disk.wwid)) for disk in disks]
    parity = int(kind[5:]) if kind.startswith("raidz") else 0
    vdev = top("raidz" if parity else kind, guid_of(name, kind), leaves, LAB_DISK_BYTES, parity)
    vdev.ashift = scene.ashift or 9
    pool = Pool(name, guid_of(name), [vdev], int(node.hostid, 16), node.hostname, alloc_bytes=80 * MIB)
    add_pool(node, pool, disks, leaves)
    for word in words.partition(" spare ")[2].split():
        disk = node.disks[int(word[1:])]
        spare = member(node, disk, guid_of(name, disk.wwid))
        spare.state = "AVAIL"
        partition(disk)[0].label = Label(name, spare.guid, pool.txg)
        pool.spares.append(spare)


class Player:
    def __init__(self, scene: Scene, release: str, folder) -> None:
        self.scene, self.clock = scene, Clock()
        node = stage(scene, release)
        self.disks = list(node.disks)
        self.twin: TwinHost = host(folder, node, self.clock)
        self.names = {f"d{n}": f"wwn-0x{disk.hex} {disk.paths[0].name} scsi-3{disk.hex}" for n, disk in enumerate(node.disks)}
        self.names |= {pool.name: str(pool.guid) for pool in node.pools}
        self.names |= {f"g{n}": str(disk.partitions[0].label.guid) for n, disk in enumerate(node.disks) if disk.partitions}
        self.names["host"] = f"{node.hostname} {node.hostid} {int(node.hostid, 16)}"

    def play(self) -> Transcript:
        transcript = Transcript("the twin", self.names)
        transcript.outputs += [self._step(step) for step in self.scene.steps]
        return transcript

    def _meant(self, word: str) -> str:
        if re.fullmatch(r"d\d+", word):
            return f"/dev/disk/by-id/wwn-0x{self.disks[int(word[1:])].hex}"
        if re.fullmatch(r"n\d+", word):
            now = self.twin.view().node.disk(self.disks[int(word[1:])].wwid)
            self.names[word] = str(now.partitions[0].label.guid)
        return self.names[word]

    def _step(self, step: str) -> Printed:
        if not step.startswith("$ "):
            verb, *words = step.split()
            with self.twin.store.changing() as node:
                self.HANDS[verb](self, node, *words)
            return Printed(step)
        line = re.sub(r"{(\w+)}", lambda found: self._meant(found[1]), step[2:])
        ran = self.twin.run(shlex.split(line), 60)
        return Printed(f"$ {line}", ran.exit_code, ran.stdout.decode(), ran.stderr.decode())

    # hands

    def _fill(self, node: Node, word: str) -> None:
        kinds = ("ext4", 2048, 407552), ("swap", 409600, 204800)
        self._disk(node, word).partitions[:] = [
            Partition(n, begin, size, filesystem=kind) for n, (kind, begin, size) in enumerate(kinds, 1)
        ]

    def _disk(self, node: Node, word: str):
        return node.disk(self.disks[int(word[1:])].wwid)

    def _settle(self, node: Node, pool: str) -> None:
        self.clock.at += 20

    def _abandon(self, node: Node, pool: str) -> None:
        node.pool(pool).state = 0

    def _fault(self, node: Node, pool: str, word: str) -> None:
        leaf = leaf_on(node, self._disk(node, word).wwid)
        leaf.state, leaf.aux = "FAULTED", "external"

    def _write(self, node: Node, name: str) -> None:
        """What is written finds out which disks are not there; where too many are not, the pool is suspended and its tree stands still."""
        pool = node.pool(name)
        leaves = [leaf for leaf in pool.leaves() if self._is_cut_off(node, leaf)]
        for leaf in leaves:
            leaf.state, leaf.errors = "UNAVAIL", [3, 115, 0]
        if pool_state(pool) == "UNAVAIL":
            suspend(pool, leaves)
            for leaf in leaves:
                leaf.state, leaf.errors = "ONLINE", [3, 6, 0]

    @staticmethod
    def _is_cut_off(node: Node, leaf) -> bool:
        """Also one whose disk went, where nothing had called it REMOVED for that."""
        on = [disk for disk in node.disks for part in disk.partitions if part.label and part.label.guid == leaf.guid]
        return any(path.state != "running" for disk in on for path in disk.paths) or (not on and leaf.state == "ONLINE")

    def _offline(self, node: Node, *words: str) -> None:
        for word in words:
            self._disk(node, word).paths[0].state = "offline"

    def _running(self, node: Node, *words: str) -> None:
        for word in words:
            self._disk(node, word).paths[0].state = "running"

    def _gone(self, node: Node, *words: str) -> None:
        for word in words:
            unplug(node, self._disk(node, word).wwid)

    def _back(self, node: Node, *words: str) -> None:
        for word in words:
            disk = self.disks[int(word[1:])]
            plug(node, disk, node.enclosures[0].bays[int(word[1:])] if node.enclosures else None, self.clock.at)

    def _hold(self, node: Node, what: str) -> None:
        node.knobs.resilver_seconds = AGES

    def _resume(self, node: Node, what: str) -> None:
        node.knobs.resilver_seconds = 2.0
        for pool in node.pools:
            if pool.scan and pool.scan.seconds == AGES:
                pool.scan.seconds = self.clock.at - pool.scan.started_at + 2.0

    def _stall(self, node: Node, name: str) -> None:
        node.pool(name).suspended = "mmp"

    def _taken(self, node: Node, name: str) -> None:
        node.pool(name).active_on = "oss08 badcafe"

    def _coarse(self, node: Node, word: str) -> None:
        disk = self._disk(node, word)
        disk.logical_block_bytes, disk.size_bytes = 4096, 640 * MIB

    def _nothing(self, node: Node, word: str) -> None:
        """What changes nothing that a command is asked of: ZED ends or begins, a disk is put back at the end."""

    HANDS = {
        "fill": _fill,
        "settle": _settle,
        "abandon": _abandon,
        "fault": _fault,
        "write": _write,
        "offline": _offline,
        "running": _running,
        "gone": _gone,
        "back": _back,
        "hold": _hold,
        "resume": _resume,
        "without": _nothing,
        "with": _nothing,
        "stall": _stall,
        "taken": _taken,
        "coarse": _coarse,
        "fine": _nothing,
    }


@pytest.mark.parametrize(("release", "name"), PLAYED, ids=[f"{release}-{name}" for release, name in PLAYED])
def test_the_twin_says_what_the_real_node_said(release, name, tmp_path):
    genuine = scenes.kept(release, name)
    assert [one.step for one in genuine.outputs if not one.is_command] == [step for step in SCENES[name].steps if not step.startswith("$ ")]
    transcript = Player(SCENES[name], release, tmp_path).play()
    for ours, theirs in zip(scenes.everything_alike(transcript), scenes.everything_alike(genuine), strict=True):
        assert ours == theirs


@pytest.mark.parametrize(("release", "name"), PLAYED, ids=[f"{release}-{name}" for release, name in PLAYED])
def test_a_transcript_is_read_as_it_was_written(release, name):
    assert scenes.kept(release, name).text() == scenes.path_of(release, name).read_text()
