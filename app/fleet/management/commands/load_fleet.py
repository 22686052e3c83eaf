"""`./run manage load_fleet --nodes 1000 --disks 100`: a database with a made-up fleet, to measure pages with."""

import os
import subprocess
import sys
import time

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser

from app.fleet import generated
from app.fleet.models import Disk, Node, Situation
from twin.many import NODES_MAX


class Command(BaseCommand):
    help = "Fill an empty database with a generated fleet. Refuses where a real one is. Nodes that are there already are left as they are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--nodes", type=int, default=1000)
        parser.add_argument("--disks", type=int, default=100, help="of each node; tens make raidz2 vdevs, the rest is left blank")
        parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        parser.add_argument("--part", help="N/M: only every M-th node from the N-th on; how the jobs share the work")

    def handle(self, *args: object, nodes: int, disks: int, jobs: int, part: str | None, **options: object) -> None:
        if not 1 <= nodes <= NODES_MAX or not 10 <= disks <= 900:
            raise CommandError("A generated fleet has 1 to 9000 nodes of 10 to 900 disks each.")
        try:
            generated.refuse_on_a_real_fleet()
        except generated.RealFleet as error:
            raise CommandError(str(error)) from None
        if part:
            first, step = map(int, part.split("/"))
            generated.load(range(first, nodes + 1, step), disks)
            return
        begun = time.monotonic()
        _in_parts(nodes, disks, max(1, min(jobs, nodes)))
        found = f"{Node.objects.count()} nodes, {Disk.objects.count()} disks, {Situation.objects.filter(closed_at=None).count()} open situations"
        self.stdout.write(f"{found}, loaded in {time.monotonic() - begun:.0f} s. They never report again, so they fall silent after 90 s.")


def _in_parts(nodes: int, disks: int, jobs: int) -> None:
    """Reading a node takes a processor and nothing else, so each job is a process."""
    more = ["load_fleet", f"--nodes={nodes}", f"--disks={disks}"]
    children = [subprocess.Popen([sys.executable, sys.argv[0], *more, f"--part={first}/{jobs}"]) for first in range(1, jobs + 1)]
    if any([child.wait() for child in children]):
        raise CommandError("A part of the fleet could not be loaded; its output is above. Start again: what is there is kept.")
