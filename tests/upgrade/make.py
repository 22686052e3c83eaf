"""Writes the data folder of an older version, small, as `from-29e7ff0.tar.xz` here: its database as SQL and its keys, made for this alone.

Run once, with the code of that version: PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=<a checkout of 29e7ff0> python tests/upgrade/make.py <the checkout>
"""

import io
import os
import sys
import tarfile
import tempfile
from datetime import timedelta
from pathlib import Path

OUT = Path(__file__).resolve().with_name("from-29e7ff0.tar.xz")
PASSWORD = "correct horse battery"
KEYS = ("ledger.key", "order.key", "nodes.key")


def main(checkout: str) -> None:
    sys.path[0] = checkout  # and not this folder's
    os.chdir(checkout)
    scratch = Path(tempfile.mkdtemp())
    from tests import ground as places

    places.KEPT = scratch / "kept"
    ground = places.Ground.place()
    os.environ.update(ground.environment())
    import django

    django.setup()
    from django.core.management import call_command

    from app.core.database import point_at

    ground.start(lambda url: (point_at(url), call_command("migrate", verbosity=0, interactive=False)))
    ground.clone("older")
    point_at(ground.url("older"))
    text = fill(scratch)
    sql = ground.postgres._tool("pg_dump", "--no-comments", "older", env={"PGHOST": str(ground.postgres.sockets), "PGUSER": "postgres", "PGPASSWORD": places.SECRET}, stdin="")  # fmt: skip
    with tarfile.open(OUT, "w:xz", preset=9) as out:
        for name, data in {
            "dump.sql": sql.encode(),
            "token": text.encode(),
            **{name: (ground.folder / name).read_bytes() for name in KEYS},
        }.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            out.addfile(about, io.BytesIO(data))
    print(OUT, OUT.stat().st_size)


def fill(scratch: Path) -> str:
    """People, a team with a node, a second factor, a token, and a run that waits for its order after its approval."""
    from allauth.mfa.models import Authenticator
    from django.utils import timezone

    from app.accounts.models import Team, User
    from app.api import tokens
    from app.fleet.models import Node
    from app.ledger.checkpoints import checkpoint_now
    from app.runs.tests.cast import Oss01, walk_to

    team = Team.objects.create(name="storage")
    made = {}
    for name, role in (("ann", "operator"), ("bob", "approver")):
        made[name] = User.objects.create_user(name, password=PASSWORD)
        made[name].memberships.create(role=role, team=team)
    User.objects.create_superuser("root", password=PASSWORD)
    Authenticator.objects.create(user=made["bob"], type="recovery_codes", data={"seed": "x", "used_mask": 0})
    oss01 = Oss01(scratch / "twin")
    oss01.report()
    Node.objects.filter(name="oss01").update(team=team)
    walk_to("replace", oss01, made["ann"], made["bob"])
    text = tokens.make(made["ann"], "laptop", ["read"], timedelta(days=30), timezone.now())[1]
    checkpoint_now()
    return text


if __name__ == "__main__":
    main(sys.argv[1])
