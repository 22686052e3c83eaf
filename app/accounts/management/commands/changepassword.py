"""Django's `changepassword`, for a person on the portal's machine: it counts at once, is in the ledger, and every channel for notices gets it."""

from getpass import getuser
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.core.management import CommandError
from django.db import transaction

from app.accounts import people, waiting
from app.accounts.management.commands.people import DONE_HERE
from app.accounts.models import User
from app.accounts.seals import KeyLost
from app.ledger import services as ledger


class Command(changepassword.Command):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> str | None:
        name = options["username"] or getuser()
        try:
            ledger.refuse_if_broken()
            with transaction.atomic():
                message = super().handle(*args, **options)
                person = User.objects.get_by_natural_key(name)
                people.sign_out(person)
                ledger.record("person.password-reset", {"of": person.username}, waiting.HOST)
                waiting.announce_change(person.username, f"{waiting.DONE['password']} by {waiting.HOST}", DONE_HERE)
        except (KeyLost, ledger.LedgerDown) as refused:
            raise CommandError(str(refused)) from refused
        return message
