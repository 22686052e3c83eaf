"""`ledger verify` walks the whole ledger; `ledger export RUN -o FILE` writes a run's bundle; `ledger key` shows the fingerprint.

Exit codes of verify are those of verify.py: 0 intact, 1 tampered, 2 incomplete, 3 signatures not checkable.
"""

import sys
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from app.ledger import checkpoints
from app.ledger.audit import Audit, audit
from app.ledger.bundle import NoSuchRun, bundle
from app.ledger.forms import LedgerDown
from app.ledger.verify import INCOMPLETE, INTACT, TAMPERED, UNCHECKED

VERDICTS = {
    INTACT: "INTACT.",
    TAMPERED: "TAMPERED. Stop mutating work and keep this database as it is.",
    INCOMPLETE: "INCOMPLETE. What is there holds; evidence is missing.",
    UNCHECKED: "NOT CHECKED TO THE END. All hashes hold; the signatures could not be checked.",
}


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser):
        parts = parser.add_subparsers(dest="part", required=True)
        parts.add_parser("verify", help="walk chain, leaves, runs, checkpoints and evidence")
        parts.add_parser("key", help="show the fingerprint to give to verify.py --key")
        export = parts.add_parser("export", help="write the bundle of one run")
        export.add_argument("run")
        export.add_argument("-o", "--output", type=Path, required=True)

    def handle(self, *args, part, **options):
        try:
            {"verify": self.verify, "key": self.key, "export": self.export}[part](**options)
        except LedgerDown as error:
            raise CommandError(str(error)) from error

    def verify(self, **_):
        found = audit()
        self.tell(found)
        if found.exit_code:
            sys.exit(found.exit_code)

    def tell(self, found: Audit):
        self.stdout.write(", ".join(f"{count} {what}" for what, count in found.counts.items()) + ".")
        self.stdout.write(f"Signed up to event {found.signed}.")
        for label, sentences in (("TAMPERED", found.tampered), ("INCOMPLETE", found.incomplete), ("NOT CHECKED", found.unchecked)):
            for sentence in sentences:
                self.stdout.write(f"{label:<12}{sentence}")
        self.stdout.write(VERDICTS[found.exit_code])

    def key(self, **_):
        self.stdout.write(checkpoints.signing_key().fingerprint)

    def export(self, run, output, **_):
        try:
            data = bundle(run, actor="command line")
        except NoSuchRun:
            raise CommandError(f"The ledger holds no event of the run {run}.") from None
        output.write_bytes(data)
        self.stdout.write(f"{output}: {len(data)} bytes, signed by {checkpoints.signing_key().fingerprint}")
