"""`ledger verify` walks the whole ledger; `ledger export RUN -o FILE` writes a run's bundle; `ledger key` shows the fingerprints.

`ledger redact EVENT|DIGEST --why ...` erases what must not be kept, and `ledger rotate ledger --why ...` changes the ledger's key; both
are recorded with who asked (--by). The key that signs orders is changed with `order_key rotate`, because the agents must follow. `ledger check` says whether triggers, their sources, owners and rights are as they were made.
`ledger send` sends the newest checkpoint outside. Exit codes of verify: 0 intact, 1 tampered, 2 incomplete, 3 signatures not checkable.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from app.core.job_progress import reported_to
from app.ledger import checkpoints, grants, key_change, outside, redact
from app.ledger.audit import Audit, audit
from app.ledger.bundle import NoSuchRun, bundle
from app.ledger.forms import DIGEST, LedgerDown
from app.ledger.redact import NotRedacted
from app.ledger.verify import INCOMPLETE, INTACT, TAMPERED, UNCHECKED, read_kept

VERDICTS = {
    INTACT: "INTACT.",
    TAMPERED: "TAMPERED. Stop mutating work and keep this database as it is.",
    INCOMPLETE: "INCOMPLETE. What is there holds; evidence is missing.",
    UNCHECKED: "NOT CHECKED TO THE END. All hashes hold; the signatures could not be checked.",
}


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        walk = parts.add_parser("verify", help="walk chain, leaves, runs, checkpoints and evidence")
        walk.add_argument("--kept", type=Path, help="a file with checkpoints that were kept elsewhere; they are held against the ledger")
        parts.add_parser("send", help="send the newest checkpoint to the places in SLOTLIGHT_CHECKPOINTS_TO now")
        parts.add_parser("key", help="show the fingerprint to give to verify.py --key")
        export = parts.add_parser("export", help="write the bundle of one run")
        export.add_argument("run")
        export.add_argument("-o", "--output", type=Path, required=True)
        export.add_argument(
            "--withhold", type=int, action="append", default=[], metavar="N", help="leave event N of the run out; its leaf stays"
        )
        parts.add_parser("check", help="compare triggers, functions, owners and rights with what was made")
        erase = parts.add_parser("redact", help="erase the content of an event, or a piece of evidence")
        erase.add_argument("what", help="the number of the event, or the SHA-256 of the evidence")
        change = parts.add_parser("rotate", help="put a new key in the place of the ledger's")
        change.add_argument("which", choices=["ledger"])
        for part in (erase, change):
            part.add_argument("--why", required=True, help="the reason, for the ledger")
            part.add_argument("--by", default="command line", help="who asked for it")

    def handle(self, *args: object, part: str, **options: Any) -> None:
        try:
            getattr(self, f"do_{part}")(**options)
        except (LedgerDown, NotRedacted) as error:
            raise CommandError(str(error)) from error

    def do_verify(self, kept: Path | None, **_: object) -> None:
        try:
            against = outside.Kept(read_kept(kept) if kept else ())
        except OSError as error:
            raise CommandError(f"{kept} cannot be read: {error}") from error
        with self.progress_shown():
            found = audit(against)
        self.print_audit(found)
        if found.exit_code:
            sys.exit(found.exit_code)

    def print_audit(self, found: Audit) -> None:
        self.stdout.write(", ".join(f"{count} {what}" for what, count in found.counts.items()) + ".")
        self.stdout.write(f"Signed up to event {found.signed}.")
        kinds = {"TAMPERED": found.tampered, "INCOMPLETE": found.incomplete, "NOT CHECKED": found.unchecked, "REDACTED": found.redacted}
        for label, sentences in kinds.items():
            for sentence in sentences:
                self.stdout.write(f"{label:<12}{sentence}")
        self.stdout.write(VERDICTS[found.exit_code])

    def do_send(self, **_: object) -> None:
        checkpoints.checkpoint_now()
        sent = outside.send_out()
        for place, why in sent.items():
            self.stdout.write(f"{place}: {why or 'sent'}")
        if not sent or any(sent.values()):
            raise CommandError("Not every place has it." if sent else "SLOTLIGHT_CHECKPOINTS_TO names no place.")

    def do_key(self, **_: object) -> None:
        self.stdout.write(checkpoints.signing_key().fingerprint)

    def do_check(self, **_: object) -> None:
        if found := grants.faults():
            raise CommandError(" ".join(found))
        self.stdout.write("Triggers, functions, owners and rights are as they were made.")

    def do_redact(self, what: str, why: str, by: str, **_: object) -> None:
        if DIGEST.match(what):
            redact.redact_evidence(what, why, by)
        elif what.isascii() and what.isdecimal():
            redact.redact_event(int(what), why, by)
        else:
            raise CommandError(f"{what} is neither the number of an event nor the SHA-256 of evidence.")
        self.stdout.write(f"{what} is erased from this database. Copies in backups and older exports are not.")

    def do_rotate(self, which: str, why: str, by: str, **_: object) -> None:
        self.stdout.write(f"The {which} key is now {key_change.rotate(which, why, by)}.")

    @contextmanager
    def progress_shown(self) -> Iterator[None]:
        """How far it is stands in one line of the terminal, and is gone then. A script's log is not to be filled with it."""
        if not self.stderr.isatty():
            yield
            return
        try:
            with reported_to(self.far):
                yield
        finally:
            self.line("")

    def far(self, doing: str, through: int, of: int) -> None:
        self.line(f"{doing}, {through} of {of}, {100 * through // of} %" if of else doing)

    def line(self, words: str) -> None:
        self.stderr.write(f"\r\033[K{words}", style_func=str, ending="")  # it is no error
        self.stderr.flush()

    def do_export(self, run: str, output: Path, withhold: list[int], **_: object) -> None:
        try:
            with self.progress_shown():
                data = bundle(run, "command line", set(withhold))
        except NoSuchRun:
            raise CommandError(f"The ledger holds no event of the run {run}.") from None
        output.write_bytes(data)
        self.stdout.write(f"{output}: {len(data)} bytes, signed by {checkpoints.signing_key().fingerprint}")
