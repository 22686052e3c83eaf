"""Which columns of which tables are sealed here, as a file beside the key says: so that a version that seals more takes over, once, what the
one before it did not seal. Whoever can write to the database alone does not write that file.
"""

import json
import os
from dataclasses import replace

from app.accounts import seals
from app.accounts.seals import KINDS, Kind
from app.core.compiled_queries import Row
from app.ledger import secretfile

# What was sealed before there was such a file.
FIRST = {
    "accounts_user": ["id", "username", "password", "is_active", "is_superuser", "is_staff"],
    "accounts_membership": ["id", "user_id", "team_id", "role", "from_groups"],
    "mfa_authenticator": ["id", "user_id", "type", "data", "created_at"],
    "socialaccount_socialaccount": ["id", "user_id", "provider", "uid"],
    "django_session": ["session_key", "session_data", "expire_date"],
    "api_token": ["id", "person_id", "name", "prefix", "digest", "scopes", "bound", "made_at", "proved_at", "expires_at", "revoked_at"],
    "runs_approval": ["id", "plan_id", "approver_id", "at", "proved_at", "expires_at", "leaf"],
    "runs_brokenglass": ["id", "run_id", "plan_id", "person_id", "at", "proved_at", "expires_at", "leaf"],
}


def make_key() -> None:
    """The first key of this installation, over all that this version seals."""
    secretfile.make(seals.key_path())
    keep()


def keep() -> None:
    path = seals.key_path().with_name(f"{seals.key_path().name}.sealed")
    making = path.with_name(f"{path.name}.{os.getpid()}")
    making.write_text(json.dumps(_now()))
    os.replace(making, path)


def _now() -> dict[str, list[str]]:
    return {kind.table: list(kind.fields) for kind in KINDS.values()}


def _before() -> dict[str, list[str]]:
    path = seals.key_path().with_name(f"{seals.key_path().name}.sealed")
    return json.loads(path.read_text()) if path.exists() else FIRST


def grown() -> bool:
    return _before() != _now()


def not_sealed_before() -> list[tuple[Kind, Row, str]]:
    """The rows that this version seals otherwise than the one before it, without those that did not fit their seal then."""
    before, found = _before(), []
    for kind in KINDS.values():
        fields = before.get(kind.table)
        if fields == list(kind.fields):
            continue
        then = replace(kind, fields=tuple(fields)) if fields else None
        fitted = {row[len(then.fields)] for row in seals.read(then) if not seals.fault(then, row)} if then else None
        rows = ((row[len(kind.fields)], row) for row in seals.read(kind))
        found += [
            (kind, row, "This version seals it, and the one before did not.") for name, row in rows if fitted is None or name in fitted
        ]
    return found
