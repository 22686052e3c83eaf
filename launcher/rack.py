"""./run rack: hands at the rack of a demo node, which is simulated; a person must pull and insert its disks."""

import argparse
from pathlib import Path

from launcher.datafolder import DataFolder
from launcher.say import Stop, write
from launcher.up import data_folder
from twin import rack as hands
from twin.demo import state_path


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run rack", description="Stand before the rack of a demo node.")
    parser.add_argument("node", help="the name of the node")
    parser.add_argument("--data", type=Path, default=data_folder(), help="the data folder (./var, or SLOTLIGHT_DATA)")
    doings = parser.add_subparsers(dest="doing")
    pull = doings.add_parser("pull", help="take the disk out of a bay and lay it on the shelf")
    pull.add_argument("bay", type=int)
    insert = doings.add_parser("insert", help="put a disk from the shelf into a bay")
    insert.add_argument("bay", type=int)
    insert.add_argument("serial")
    doings.add_parser("unplug-cables", help="unplug the SAS cables: the node sees none of its disks")
    doings.add_parser("power-on", help="switch on a node that has no power")
    return parser


def rack(args: list[str]) -> int:
    asked = parser().parse_args(args)
    state = state_path(DataFolder(asked.data).home / "demo", asked.node)
    if not state.exists():
        raise Stop(f"There is no demo node {asked.node} in {asked.data}. `./run demo` makes them.")
    try:
        if asked.doing == "pull":
            write(f"Bay {asked.bay} is empty now. Disk {hands.pull(state, asked.bay)} lies on the shelf.")
        elif asked.doing == "insert":
            hands.insert(state, asked.bay, asked.serial)
            write(f"Disk {asked.serial} is in bay {asked.bay}.")
        elif asked.doing == "unplug-cables":
            hands.unplug_cables(state)
            write("Its SAS cables are unplugged.")
        elif asked.doing == "power-on":
            hands.power_on(state)
            write("It has power.")
        else:
            write(hands.describe(state))
    except hands.NotThere as missing:
        raise Stop(str(missing)) from None
    return 0
