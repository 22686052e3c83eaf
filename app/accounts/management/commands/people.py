"""`people` lists what administrators did and what waits for a second one. On the portal's machine it counts at once:

`people confirm NAME --why ...` lets everything count that waits of this person, `people give NAME ROLE [--team TEAM] --why ...` gives a role,
and `people new-password NAME --why ...` prints one. Each is in the ledger, and every channel for notices gets it.
"""

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import transaction

from app.accounts import confirming, people, waiting
from app.accounts.models import Role, Team, User
from app.accounts.seals import KeyLost
from app.ledger import services as ledger

DONE_HERE = "it was done on the portal's machine and counts at once"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=("show", "confirm", "give", "new-password"), default="show")
        parser.add_argument("name", nargs="?", default="", help="who it is about")
        parser.add_argument("role", nargs="?", default="", choices=("", *Role.values))
        parser.add_argument("--team", default="", help="the role holds for the nodes of this team; else for the whole fleet")
        parser.add_argument("--why", default="", help="the reason, for the ledger")

    def handle(self, *args: object, what: str, name: str, role: str, team: str, why: str, **options: object) -> None:
        if what == "show":
            return self.show()
        if not why.strip():
            raise CommandError("Say with --why what is done and why. The ledger keeps it.")
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"There is no person {name}." if name else "Name the person.")
        do = {"confirm": self.confirm, "give": self.give, "new-password": self.new_password}[what]
        try:
            ledger.refuse_if_broken()
            with transaction.atomic():
                ledger.record("person.done-on-host", {"of": person.username, "what": what, "why": why.strip()}, waiting.HOST)
                message = do(person, role, team)
        except (people.PeopleRefused, KeyLost, ledger.LedgerDown) as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(message)

    def show(self) -> None:
        found = list(waiting.everything())
        for one in found:
            self.stdout.write(f"  {waiting.person_of(one)}: {waiting.words(one)}; counts from {one.counts_at:%Y-%m-%d %H:%M} UTC")
        self.stdout.write(f"Confirm with `{waiting.COMMAND} NAME --why ...`." if found else "Nothing waits.")

    def confirm(self, person: User, role: str, team: str) -> str:
        found = waiting.of(person)
        if not found:
            raise people.PeopleRefused(f"Nothing of {person} waits.")
        lines = [f"Counts now: {waiting.words(one)}." for one in found]
        for one in found:
            confirming.confirm(None, one, waiting.key(one))
        return "\n".join(lines)

    def give(self, person: User, role: str, team: str) -> str:
        where = Team.objects.filter(name=team).first() if team else None
        if not role or (team and where is None):
            raise people.PeopleRefused(f"There is no team {team}." if role else "Name the role after the person.")
        held = people.give(None, person, role, where)
        waiting.announce_change(person.username, waiting.words(held), DONE_HERE)
        return f"{person} is {held.role} for {held.where}, at once."

    def new_password(self, person: User, role: str, team: str) -> str:
        password = people.new_password(None, person)
        waiting.announce_change(person.username, f"{waiting.DONE['password']} by {waiting.HOST}", DONE_HERE)
        return f"The new password of {person}, to be changed at once: {password}"
