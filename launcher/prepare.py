"""One Django process for everything that must be true before the portal starts: migrated, and the demo fleet known.

It loads Django at once and waits for the word "go" on its input, so that loading overlaps with the start of PostgreSQL.
"""

import os
import sys
from pathlib import Path

import django
from django.core.management import call_command

from app.core.database import point_at


def main(demo: str = "", scenario: str = "") -> None:
    os.environ["SLOTLIGHT_AS_OWNER"] = "1"
    django.setup()
    if sys.stdin.readline().strip() != "go":
        return
    call_command("migrate", verbosity=0, interactive=False)
    # What follows is done by the role that the portal runs as, through the rights it has.
    point_at(os.environ["DATABASE_URL"])
    call_command("identity", "first")
    if demo:
        call_command("demo", dir=Path(demo), scenario=scenario)


if __name__ == "__main__":
    main(*sys.argv[1:3])
