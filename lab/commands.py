"""`./run lab ...`: for a person who wants a real node at hand."""

import argparse
import os
import sys
from pathlib import Path

from lab import image
from lab.figures import measure, table
from lab.machine import Machine, everyone
from lab.recipe import DEFAULT, SUITES
from launcher.bootstrap import ROOT
from launcher.say import Stop, write

NAME = "oss01"


def main(args: list[str]) -> int:
    asked = _parser().parse_args(args)
    return asked.call(asked)


def build(asked: argparse.Namespace) -> int:
    made = image.build(asked.zfs, asked.source)
    write(f"{made.folder} holds Debian with OpenZFS {made.zfs_version}.")
    return 0


def up(asked: argparse.Namespace) -> int:
    made, machine = image.build(asked.zfs), Machine(asked.name)
    if asked.fresh or not machine.settings.image:
        machine.make(made, asked.disks, host=asked.name)
    machine.start()
    write(f"{machine.name} is up: {len(machine.settings.bays)} disks in {machine.settings.shelves} shelves, OpenZFS {made.zfs_version}.")
    write(f"  ./run lab shell {machine.name}    the host is 10.0.2.2 there")
    write(f"  ./run lab down {machine.name}     its disks and its system stay; up boots them again")
    return 0


def shell(asked: argparse.Namespace) -> int:
    _running(asked.name).guest.shell(*asked.line)
    return 0


def down(asked: argparse.Namespace) -> int:
    machine = _running(asked.name)
    machine.cut() if asked.cut else machine.down()
    write(f"{asked.name} is down.")
    return 0


def pull(asked: argparse.Namespace) -> int:
    bay = _running(asked.name).pull(asked.disk)
    write(f"Disk {asked.disk} lies on the table; bay {bay} is empty.")
    return 0


def insert(asked: argparse.Namespace) -> int:
    machine = _running(asked.name)
    machine.insert(asked.disk, asked.bay)
    write(
        f"Disk {asked.disk}, serial {machine.disk(asked.disk).serial}, is in bay {asked.bay}; the node calls it {machine.name_of(asked.disk) or 'nothing yet'}."
    )
    return 0


def slow(asked: argparse.Namespace) -> int:
    _running(asked.name).slow(asked.disk, iops=asked.iops)
    return 0


def lit(asked: argparse.Namespace) -> int:
    for (shelf, bay), lamps in sorted(_running(asked.name).lit().items()):
        write(f"shelf {shelf} slot {bay}: {', '.join(lamps)}")
    return 0


def figures(asked: argparse.Namespace) -> int:
    """Of the agent, which somebody has installed there."""
    write(table(measure(_running(asked.name).guest)))
    return 0


def machines(asked: argparse.Namespace) -> int:
    for machine in everyone():
        write(f"{machine.name}: {'up' if machine.runs() else 'down'}, {len(machine.settings.bays)} disks")
    return 0


def test(args: list[str]) -> int:
    """The tests of the lab. Without arguments all of them, in the order of the files. Where the image is lacking and can be made, it is made."""
    os.chdir(ROOT)
    asked, _ = _series(argparse.ArgumentParser(add_help=False)).parse_known_args(args)
    if not image.lacking():
        image.build(asked.zfs)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-m", "lab", *(args or ["-v", "lab"])])


def _running(name: str) -> Machine:
    machine = Machine(name)
    if not machine.runs():
        raise Stop(f"{name} is not up. `./run lab up {name}` boots it.")
    return machine


def _series(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--zfs", choices=sorted(SUITES), default=DEFAULT, help="which OpenZFS (default: %(default)s)")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run lab", description="A real storage node in QEMU.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(call, text: str, *, named: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(call.__name__, help=text, description=text)
        sub.set_defaults(call=call)
        if named:
            sub.add_argument("name", nargs="?" if call not in (pull, insert, slow) else None, default=NAME)
        return sub

    sub = _series(command(build, "make the image unless it is there", named=False))
    sub.add_argument(
        "--source", type=Path, metavar="FILE", help="the source of OpenZFS (.tar.gz), where Debian has no packages of that release"
    )
    sub = _series(command(up, "boot a node, making it and its image if need be"))
    sub.add_argument("--disks", type=int, default=8)
    sub.add_argument("--fresh", action="store_true", help="forget what the node of this name was before")
    sub = command(shell, "a shell on the node, or one line there")
    sub.add_argument("line", nargs=argparse.REMAINDER)
    command(down, "end the node; its disks stay").add_argument("--cut", action="store_true", help="as a power cut, flushing nothing")
    command(pull, "take a disk out").add_argument("disk", type=int)
    sub = command(insert, "put a disk, a new one if need be, into a bay; bays count from 0")
    sub.add_argument("disk", type=int)
    sub.add_argument("bay", type=int)
    sub = command(slow, "throttle a disk; 0 lets it run")
    sub.add_argument("disk", type=int)
    sub.add_argument("iops", type=int)
    command(lit, "which lamps are lit, asked at the shelf")
    command(figures, "what the agent costs on the node, as a table; takes four minutes")
    command(machines, "which nodes there are", named=False)
    return parser
