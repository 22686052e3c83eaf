"""`order_key` shows which key signs orders; `order_key rotate` puts a new one in its place, and the agents follow.

`order_key begin-anew --why ...` is for a key that is lost for good: no agent follows that, and each node has to enrol again.
"""

from django.core.management import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from app.ledger import checkpoints, key_change, keys
from app.ledger.forms import LedgerDown
from app.runs.ordering import key_rotation


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=("show", "rotate", "begin-anew"), default="show")
        parser.add_argument("--why", default="", help="the reason, for the ledger")
        parser.add_argument("--by", default="command line", help="who asked for it")

    def handle(self, *args: object, what: str, why: str, by: str, **options: object) -> None:
        try:
            self.stdout.write({"show": self.show, "rotate": self.rotate, "begin-anew": self.begin_anew}[what](why.strip(), by))
        except LedgerDown as down:
            raise CommandError(str(down)) from down

    def show(self, why: str, by: str) -> str:
        checkpoints.finish_key_change()
        return f"Orders are signed with {keys.order_key().key_id} ({keys.order_key_path()})."

    def rotate(self, why: str, by: str) -> str:
        key_id = key_rotation.rotate(by, timezone.now(), why or "Asked for on the command line.")
        return f"Orders are signed with {key_id} from now on. Agents follow by themselves."

    def begin_anew(self, why: str, by: str) -> str:
        if not why:
            raise CommandError("Say with --why what became of the key. The ledger keeps it.")
        key_change.begin_anew(why, by)
        return f"Orders are signed with {keys.order_key().key_id} from now on. No agent trusts it yet: enrol every node again."
