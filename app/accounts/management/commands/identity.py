"""`identity` lists rows about people that are not accepted: accounts, roles, factors, links, sessions, tokens and approvals that this portal did not write.

`identity bless ROW... --why ...` confirms the named ones, `identity bless --all --why ...` all that are listed. `identity first` takes over an
installation from before there were seals, or from before this version sealed more; it does nothing when that was done before. `identity rotate --why ...` changes the key.
`identity begin-anew --why ...` is for a key that is lost: it lists everything, and with --all seals it under another key.
"""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from app.accounts import blessing, seals
from app.ledger.forms import LedgerDown


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=("show", "first", "bless", "rotate", "begin-anew"), default="show")
        parser.add_argument("rows", nargs="*", help="names of rows, as they are listed")
        parser.add_argument("--all", action="store_true", help="every row that is listed")
        parser.add_argument("--why", default="", help="the reason, for the ledger")
        parser.add_argument("--by", default="command line", help="who asked for it")

    def handle(self, *args: object, what: str, rows: list[str], why: str, by: str, **options: Any) -> None:
        do = {"show": self.show, "first": self.first, "bless": self.bless, "rotate": self.rotate, "begin-anew": self.begin_anew}[what]
        if what not in ("show", "first") and not why.strip():
            raise CommandError("Say with --why what is done and why. The ledger keeps it.")
        try:
            do(rows, options["all"], why.strip(), by)
        except (blessing.NotNow, seals.KeyLost, LedgerDown) as refused:
            raise CommandError(str(refused)) from refused

    def show(self, rows: list[str], every: bool, why: str, by: str) -> None:
        if lost := seals.why_no_key():
            self.stdout.write(lost)
        self._list(found := blessing.not_accepted())
        self.stdout.write(f"{len(found)} rows are not accepted." if found else "Every row is accepted.")

    def first(self, rows: list[str], every: bool, why: str, by: str) -> None:
        if found := blessing.at_first(by):
            self._list(found)
            self.stdout.write(
                f"From now on {len(found)} rows about people are sealed with {seals.key_path()}. Back that file up. Read the list: what does"
                " not belong there was there before."
            )

    def bless(self, rows: list[str], every: bool, why: str, by: str) -> None:
        found = blessing.not_accepted()
        self._list(found if every else [one for one in found if blessing.name_of(one) in rows])
        if not rows and not every:
            raise CommandError("Name the rows to confirm, or give --all. `identity` lists them.")
        done = blessing.bless([blessing.name_of(one) for one in found] if every else rows, why, by)
        self.stdout.write(f"{len(done)} rows are confirmed.")

    def rotate(self, rows: list[str], every: bool, why: str, by: str) -> None:
        self.stdout.write(f"{blessing.rotate(why, by)} rows are sealed with another key, {seals.key_path()}. Back that file up.")

    def begin_anew(self, rows: list[str], every: bool, why: str, by: str) -> None:
        found = blessing.not_accepted()
        self._list(found)
        if not every:
            raise CommandError(
                f"Nothing was done. If all {len(found)} rows are right, run it again with --all; first delete those that are not."
            )
        blessing.begin_anew(why, by)
        self.stdout.write(f"{len(found)} rows are sealed with another key, {seals.key_path()}. Back that file up.")

    def _list(self, found: list[blessing.Found]) -> None:
        for one in found:
            self.stdout.write(f"  {blessing.line(one)}")
