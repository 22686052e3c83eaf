"""`manage.py demo --dir DIR`: prepares the demo fleet for the twins that play it."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandParser

from app.nodes import demo
from workflows.rehearsal import scenarios


class Command(BaseCommand):
    help = "Add the demo nodes with tokens and policies in DIR, and, when bound to loopback, the demo's people."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dir", type=Path, required=True, help="the folder the twins play from")
        parser.add_argument(
            "--scenario", default="", choices=("", *scenarios.names()), help="add the node that needs the runbook of this name"
        )
        parser.add_argument("--bind", default="127.0.0.1", help="the address the portal listens on")

    def handle(self, *args: object, dir: Path, bind: str, scenario: str = "", **_: object) -> None:
        dir.mkdir(parents=True, exist_ok=True)
        waiting = demo.make_nodes(dir, scenario)
        self.stdout.write(
            f"Demo nodes: {', '.join(demo.names_of(dir, scenario))}; waiting for their agents: {', '.join(waiting) or 'none'}."
        )
        if not demo.is_loopback(bind):
            demo.shut_out(dir)
            self.stdout.write(f"The portal listens on {bind}, so the demo's sign-ins are switched off. They exist on loopback only.")
            return
        for name, password in demo.make_people(dir).items():
            self.stdout.write(f"Sign in as {name} with {password}")
