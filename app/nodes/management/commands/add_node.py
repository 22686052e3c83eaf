"""`manage.py add_node NAME`: prints the one-time token an agent enrols with."""

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from app.nodes.keys import TOKEN_SECONDS, issue_token


class Command(BaseCommand):
    help = "Print a one-time token for a node; adds the node when it is new. Enrolling with it replaces the node's key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the node's name, as pages will show it")

    def handle(self, *args: object, name: str, **_: object) -> None:
        try:
            token = issue_token(name, "command line")
        except ValidationError as error:
            raise CommandError(f"{name!r} cannot be a node's name: letters, digits, dots, dashes, at most 63.") from error
        self.stderr.write(f"This token enrols {name} once, within {TOKEN_SECONDS // 60} minutes:")
        self.stdout.write(token)
