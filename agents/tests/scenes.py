"""Scenes that are played twice: on a real node of the lab, and on the twin. Both are asked the same commands in the same order and must say the same.

A scene begins with the pools it names, on disks `d0`, `d1` ... of one shelf. A step is a command, written after `$ `, or something that hands do
(`test_twin_scenes.py` does it to the twin, `lab/tests/players.py` to the node). Words of a step that stand for what differs from machine to machine:

    {d0}    the disk's name under /dev/disk/by-id       {g0}    the guid that its member had when the scene began
    {n0}    the guid in its label now                   {tank}  the guid of the pool of that name

What the node said is kept in `captures/scenes/RELEASE--SCENE.txt`, whole and unchanged, with the names that stand for these words there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "captures" / "scenes"
HANGS = "hangs"  # where the exit code stands: the command had not ended when it was waited for no longer
RELEASES = ("2.0.3", "2.1.11", "2.2.9", "2.3.2", "2.4.4")


class Scene(NamedTuple):
    """`disks` in the first bays of a shelf; `pools` by name: the words behind `zpool create NAME`."""

    disks: int
    pools: dict[str, str]
    steps: tuple[str, ...]
    ashift: int = 12  # 0: as ZFS finds it best
    options: str = ""
    releases: tuple[str, ...] = RELEASES
    hosts: int = 1  # that see the shelf; the second one does nothing but what hands do


SCENES: dict[str, Scene] = {
    "strangers": Scene(
        9,
        {"tank": "raidz1 d0 d1 d2 spare d3", "mir": "mirror d4 d5 spare d6"},
        (
            "fill d7",
            "$ zpool replace tank {g0} {d4}",
            "$ zpool replace -f tank {g0} {d4}",
            "$ zpool replace tank {g0} {d4}-part1",
            "$ zpool replace -f tank {g0} {d4}-part1",
            "$ zpool replace tank {g0} {d6}",
            "$ zpool replace -f tank {g0} {d6}",
            "$ zpool replace tank {g0} {d6}-part1",
            "$ zpool replace -f tank {g0} {d6}-part1",
            "$ zpool replace tank {g0} {d7}",
            "$ zpool replace tank {g0} {d7}-part1",
            "$ blkid -p {d0}",
            "$ blkid -p {d0}-part1",
            "$ blkid -p {d3}-part1",
            "$ blkid -p {d7}",
            "$ blkid -p {d7}-part1",
            "$ blkid -p {d7}-part2",
            "$ blkid -p {d8}",
            "$ zpool replace tank 1234567890123456789 {d8}",
            "$ blkid -p {d8}",
            "$ zpool replace tank {g0} /dev/disk/by-id/wwn-0x5000000000000000",
            "$ zpool replace nopool {g0} {d8}",
            "$ zpool export mir",
            "$ zpool replace tank {g0} {d4}",
            "abandon mir",
            "$ zpool replace tank {g0} {d4}",
            "$ zpool replace tank {g0} {d6}",
            "settle tank",
            "$ zpool status -P tank",
            "$ zpool replace tank {n6} {d3}",
            "settle tank",
            "$ zpool status -P tank",
            "$ zpool detach tank {n3}",
            "$ zpool status -P tank",
        ),
    ),
    "members": Scene(
        5,
        {"tank": "raidz1 d0 d1 d2", "mir": "mirror d3 d4"},
        (
            "$ zpool offline tank {g0}",
            "$ zpool offline tank {g1}",
            "$ zpool status",
            "$ zpool status -x",
            "write tank",
            "$ zpool online tank {g0}",
            "settle tank",
            "$ zpool status tank",
            "fault tank d0",
            "write tank",
            "$ zpool online tank {g0}",
            "$ zpool clear tank {g0}",
            "settle tank",
            "$ zpool status -x tank",
            "$ zpool clear tank 1234567890123456789",
            "$ zpool online tank 1234567890123456789",
            "$ zpool offline tank 1234567890123456789",
            "$ zpool detach tank 1234567890123456789",
            "$ zpool detach tank {g0}",
            "$ zpool offline mir {g3}",
            "$ zpool offline mir {g4}",
            "$ zpool detach mir {g4}",
            "$ zpool detach mir {g3}",
            "$ zpool status -P mir",
            "$ zdb -l {d3}-part1",
            "$ zpool detach mir {g4}",
            "$ zpool offline mir {g4}",
            "$ zpool status nopool",
            "$ zpool list nopool",
            "$ zpool history nopool",
            "$ zpool scrub nopool",
            "$ zpool clear nopool",
            "$ zpool online nopool {g0}",
            "$ zpool export nopool",
            "$ zpool import nopool",
            "$ zpool import tank",
            "$ zpool export tank",
            "$ zpool export mir",
            "$ zpool status",
            "$ zpool list",
            "$ zpool history",
            "$ zpool list -H -p -v -g",
            "$ zpool iostat -w -v -H -p -g",
            "$ zpool get -H -p guid",
            "$ zpool import tank",
        ),
    ),
    "scans": Scene(
        6,
        {"tank": "raidz2 d0 d1 d2 d3"},
        (
            "hold scans",
            "write tank",
            "$ zpool scrub tank",
            "$ zpool scrub tank",
            "resume scans",
            "settle tank",
            "$ zpool status -P tank",
            "hold scans",
            "$ zpool replace tank {g0} {d4}",
            "$ zpool scrub tank",
            "$ zpool status -P tank",
            "$ zpool replace tank {g1} {d5}",
            "$ zpool status -P tank",
            "$ zpool detach tank {n5}",
            "$ zpool status -P tank",
            "resume scans",
            "settle tank",
            "$ zpool status -P tank",
            "$ zdb -l {d0}-part1",
            "$ blkid -p {d0}-part1",
            "$ zpool offline tank {g1}",
            "write tank",
            "$ zpool replace tank {g1} {d0}",
            "settle tank",
            "$ zpool status -P tank",
            "$ blkid -p {d1}-part1",
            "$ zpool replace tank {g2} {d1}",
        ),
    ),
    "missing": Scene(
        5,
        {"tank": "raidz1 d0 d1 d2", "mir": "mirror d3 d4"},
        (
            "$ zpool export tank",
            "gone d0 d1",
            "$ zpool import",
            "$ zpool import tank",
            "$ zdb -e -p /dev/disk/by-id {tank} -d",
            "back d1",
            "$ zpool import",
            "$ zpool import tank",
            "$ zpool status -P tank",
            "$ zpool status -g tank",
            "write tank",
            "$ zpool online tank {g0}",
            "$ zpool export tank",
            "back d0",
            "$ zpool import",
            "$ zpool import tank",
        ),
    ),
    "gone": Scene(
        5,
        {"tank": "raidz2 d0 d1 d2 d3"},
        (
            "offline d0",
            "$ zdb -l {d0}-part1",
            "$ zdb -l {d0}",
            "write tank",
            "running d0",
            "$ zpool clear tank",
            "settle tank",
            "$ zpool status -P tank",
        ),
    ),
    "suspended": Scene(
        5,
        {"tank": "raidz1 d0 d1 d2 d3"},
        (
            "offline d0 d1 d2 d3",
            "write tank",
            "$ zpool status -P tank",
            "$ zpool clear tank",
            "$ zpool replace tank {g0} {d4}",
            "$ zpool offline tank {g0}",
            "$ zpool online tank {g0}",
            "running d0 d1 d2 d3",
            "$ zpool clear tank",
            "settle tank",
            "$ zpool status -P tank",
        ),
    ),
    "suspended-scrub": Scene(
        4,
        {"tank": "raidz1 d0 d1 d2 d3"},
        ("offline d0 d1 d2 d3", "write tank", "$ zpool scrub tank", "running d0 d1 d2 d3", "$ zpool clear tank", "settle tank"),
    ),
    "lost": Scene(
        5,
        {"tank": "raidz1 d0 d1 d2", "mir": "mirror d3 d4"},
        (
            "$ zpool offline tank {g0}",
            "gone d0",
            "$ zpool online tank {g0}",
            "$ zpool status -P tank",
            "write tank",
            "back d0",
            "$ zpool online tank {g0}",
            "settle tank",
            "$ zpool status -P tank",
            "gone d1",
            "$ zpool status -P tank",
            "$ zpool online tank {g1}",
            "$ zpool status -P tank",
            "write tank",
            "back d1",
            "settle tank",
            "$ zpool status -P tank",
            "gone d3 d4",
            "$ zpool status -P mir",
            "$ zpool status -x",
        ),
    ),
    "unnoticed": Scene(
        4,
        {"tank": "raidz2 d0 d1 d2 d3"},
        (
            "without ZED",
            "gone d0",
            "write tank",
            "$ zpool status -P tank",
            "$ zpool clear tank",
            "$ zpool status -P tank",
            "$ zpool status -x",
            "$ zpool offline tank {g0}",
            "$ zpool status -P tank",
            "$ zpool online tank {g0}",
            "$ zpool status -P tank",
            "back d0",
            "$ zpool online tank {g0}",
            "settle tank",
            "$ zpool status -P tank",
            "with ZED",
        ),
    ),
    "coarse": Scene(
        4,
        {"tank": "mirror d0 d1"},
        ("coarse d3", "$ zpool replace tank {g0} {d3}", "fine d3"),
        ashift=0,
    ),
    # The last ones: OpenZFS 2.1 does not let go of a pool that multihost suspended until the node boots, nor later ones of one that another host has.
    "multihost": Scene(
        3,
        {"tank": "raidz1 d0 d1 d2"},
        (
            "$ zpool clear tank",
            "stall tank",
            "$ zpool status -P tank",
            "$ zpool clear tank",
            "$ zpool status -P tank",
        ),
        options="-o multihost=on",
    ),
    "elsewhere": Scene(
        3,
        {"tank": "raidz1 d0 d1 d2"},
        ("stall tank", "taken tank", "$ zpool clear tank", "$ zpool status -P tank"),
        options="-o multihost=on",
        releases=("2.2.9", "2.3.2", "2.4.4"),
        hosts=2,
    ),
}


# Of a release, the scenes that are not kept yet: `./run lab test --zfs RELEASE --keep DIR lab/tests/test_node_scenes.py` plays them all.
OWED: dict[str, tuple[str, ...]] = {}


def played(scene: str) -> tuple[str, ...]:
    """The releases on which it was played and kept."""
    return tuple(release for release in SCENES[scene].releases if scene not in OWED.get(release, ()))


@dataclass
class Printed:
    """What a command said. A step that hands did says nothing."""

    step: str
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""

    @property
    def is_command(self) -> bool:
        return self.step.startswith("$ ")


@dataclass
class Transcript:
    """A scene as one machine played it: what its words stood for there, and what was said. `d0` stands for the by-id name and the kernel's name."""

    head: str
    names: dict[str, str] = field(default_factory=dict)
    outputs: list[Printed] = field(default_factory=list)

    def text(self) -> str:
        lines = [self.head, *(f"{word} = {value}" for word, value in self.names.items()), ""]
        for one in self.outputs:
            lines.append(one.step if one.is_command else f"* {one.step}")
            if one.is_command:
                lines += [*_marked("o", one.stdout), *_marked("e", one.stderr)]
                lines.append(f"= {HANGS if one.exit_code is None else one.exit_code}")
        return "\n".join(lines) + "\n"


def _marked(stream: str, text: str) -> list[str]:
    """Its lines, and behind another mark what follows the last line break."""
    *lines, rest = text.split("\n")
    return [f"{stream}> {line}" for line in lines] + ([f"{stream}- {rest}"] if rest else [])


def path_of(release: str, scene: str) -> Path:
    return FOLDER / f"{release}--{scene}.txt"


def kept(release: str, scene: str) -> Transcript:
    head, *lines = path_of(release, scene).read_text().splitlines()
    transcript = Transcript(head)
    for line in lines:
        if line.startswith("$ "):
            transcript.outputs.append(Printed(line))
        elif line.startswith("* "):
            transcript.outputs.append(Printed(line[2:]))
        elif line.startswith("o> "):
            transcript.outputs[-1].stdout += line[3:] + "\n"
        elif line.startswith("e> "):
            transcript.outputs[-1].stderr += line[3:] + "\n"
        elif line.startswith("o- "):
            transcript.outputs[-1].stdout += line[3:]
        elif line.startswith("e- "):
            transcript.outputs[-1].stderr += line[3:]
        elif line.startswith("= "):
            transcript.outputs[-1].exit_code = None if line[2:] == HANGS else int(line[2:])
        elif line:
            word, _, value = line.partition(" = ")
            transcript.names[word] = value
    return transcript


# What chance, the clock and the node's past decide, and the word that stands for it.
CHANCE = (
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4}\b", "DATE"),
    (r"[0-9.]+[BKMG](?=/s| /|,? (scanned|issued|total|resilvered|repaired)| in )", "N"),
    (r"(?<= in )[0-9:]{8}", "N"),
    (r"[0-9]+(?= data errors)", "n"),
    (r'PART_ENTRY_NAME="[ab]" ', ""),
    (r'(?<=PART_ENTRY_DISK=")[0-9:]+', "N"),
    (r"errors: List of errors unavailable: pool I/O is currently suspended\n", ""),  # where the log of errors was not in memory
    (r"[0-9.]+%", "N%"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
    (r'(?<=NAME="zfs-)[0-9a-f]{16}', "X"),
    (r"\b[0-9]{15,20}\b", "GUID"),
    (r"(?<=txg: )[1-9][0-9]*", "N"),
    (r"\n +DTL: [0-9]+", ""),  # there for good once anything was missing
    (r"(?<=metaslab_array: )[0-9]+", "N"),
    (r"(?<=devid: ')(\{d[0-9]\}|scsi-0\w+)(?=-part1')", "LINK"),  # which of the disk's: others where udev has the rules of sg3-utils
    (
        r"(?m)^    min_alloc: [0-9]+",
        "    min_alloc: N",
    ),  # of the pool: less than of any vdev once a disk was attached, until the next import
    (r"(?<=/enclosure/)[0-9:]+", "H:C:T:L"),
)
COUNTERS = re.compile(r"((?:ONLINE|DEGRADED|FAULTED|UNAVAIL|OFFLINE|REMOVED) +)((?: +[0-9]+){3})")


def alike(text: str, names: dict[str, str]) -> str:
    """The text with the scene's words where this machine's names stand, and what else differs each time made equal."""
    for word, value in sorted(names.items(), key=lambda item: -len(item[1])):
        for one in value.split():
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(one)}(?![A-Za-z0-9]*[a-z])", f"{{{word}}}", text)
    if re.search(r"^\t +(\{[gn][0-9]\}|[0-9]{15,20}) ", text, re.MULTILINE):
        text = re.sub(r" {2,}", " ", text)  # as wide as the longest guid is
    for pattern, word in CHANCE:
        text = re.sub(pattern, word, text)
    if "state: SUSPENDED" in text:  # whose errors come to be counted until nothing is written any more, depends on the moment
        text = re.sub(r" +[0-9]+ +[0-9]+ +[0-9]+$", " n n n", text, flags=re.MULTILINE)
    return COUNTERS.sub(lambda row: row[1] + re.sub(r" *[1-9][0-9]*", lambda count: "n".rjust(len(count[0])), row[2]), text)


def everything_alike(transcript: Transcript) -> list[str]:
    """Every answer of a transcript, so that two of them can be compared."""
    return [alike(f"{one.step}\n{one.stdout}{one.stderr}= {one.exit_code}", transcript.names) for one in transcript.outputs]
