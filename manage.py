"""Django's command line; `./run manage ...` calls it with the right interpreter and servers."""

import os
import sys

OWNER_COMMANDS = {"migrate", "makemigrations", "sqlmigrate", "showmigrations"}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "app.settings")
    if OWNER_COMMANDS.intersection(sys.argv[1:2]):
        os.environ["SLOTLIGHT_AS_OWNER"] = "1"
    from django.core.management import execute_from_command_line

    from app.ledger.forms import KeyLost

    try:
        execute_from_command_line(sys.argv)
    except KeyLost as lost:
        sys.exit(str(lost))
