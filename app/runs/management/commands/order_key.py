"""`order_key` shows which key signs orders; `order_key rotate` puts a new one in its place."""

from django.core.management import BaseCommand
from django.utils import timezone

from app.ledger import keys
from app.runs import rotation


class Command(BaseCommand):
    help = "Show the key that signs orders, or rotate it."

    def add_arguments(self, parser):
        parser.add_argument("what", nargs="?", choices=("show", "rotate"), default="show")

    def handle(self, *args, what, **options):
        rotation.settle()
        if what == "rotate":
            self.stdout.write(
                f"Orders are signed with {rotation.rotate('command line', timezone.now())} from now on. Agents follow by themselves."
            )
        else:
            self.stdout.write(f"Orders are signed with {keys.order_key().key_id} ({keys.order_key_path()}).")
