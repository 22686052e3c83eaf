"""The demo fleet: nodes played by twins, and the people to try it as.

Warm starts change nothing that is there: an enrolled node keeps its key, a person keeps the password, and a policy file
stays as a person may have edited it.
"""

import json
import os
import secrets
from ipaddress import ip_address
from pathlib import Path

from django.db import transaction

from app.accounts.models import Role, User
from app.accounts.waiting import DEMO as ACTOR
from app.fleet.models import Node
from app.ledger import services as ledger
from app.nodes.keys import issue_token
from twin.demo import WRITING, node_names
from workflows.rehearsal.tryout import PREFIX
from workflows.rehearsal.tryout import node_names as scenario_nodes

POLICY = {"mode": "operate", "operations": list(WRITING), "pools": ["*"]}
PEOPLE = {
    "operator": (Role.OPERATOR,),
    "approver": (Role.APPROVER,),
    "technician": (Role.TECHNICIAN,),
    "viewer": (Role.VIEWER,),
    "admin": (Role.ADMIN,),
}
SIGN_INS = "sign-ins.json"


def is_loopback(bind: str) -> bool:
    try:
        return ip_address(bind.strip("[]")).is_loopback
    except ValueError:
        return bind == "localhost"


def names_of(folder: Path, scenario: str = "") -> list[str]:
    """The demo fleet, the scenarios that were begun in this folder, and the one that begins now."""
    begun = {path.parent.name for path in folder.glob(f"{PREFIX}*/state.json")} | (set(scenario_nodes(scenario)) if scenario else set())
    return [*node_names(), *sorted(begun)]


def make_nodes(folder: Path, scenario: str = "") -> list[str]:
    """Policy files, and a token for every node that has no key; returns the names of those nodes."""
    waiting = []
    for name in names_of(folder, scenario):
        _write_policy(folder / name)
        token = folder / f"{name}.token"
        if Node.objects.filter(name=name, state=Node.State.ENROLLED).exists():
            token.unlink(missing_ok=True)
            continue
        _write_secret(token, issue_token(name, ACTOR))
        waiting.append(name)
    return waiting


def make_people(folder: Path) -> dict[str, str]:
    """The demo's people and their passwords. Where the file with the passwords is lost, they get new ones."""
    path = folder / SIGN_INS
    kept = json.loads(path.read_text()) if path.exists() else {}
    with transaction.atomic():
        passwords = {name: _person(name, roles, kept.get(name, "")) for name, roles in PEOPLE.items()}
        _write_secret(path, json.dumps(passwords, indent=1))
        if passwords != kept:
            ledger.record("demo.people-made", {"names": sorted(passwords)}, ACTOR)
    return passwords


def _person(name: str, roles: tuple[str, ...], password: str) -> str:
    person, is_new = User.objects.get_or_create(username=name)
    if is_new or not password:
        password = secrets.token_urlsafe(12)
        person.set_password(password)
    person.is_active = True
    person.save()
    person.memberships.filter(team=None).exclude(role__in=roles).delete()
    for role in roles:
        person.memberships.get_or_create(team=None, role=role)
    return password


def shut_out(folder: Path) -> None:
    """Where others can reach the portal there are no people whose passwords lie in a file."""
    for person in User.objects.filter(username__in=PEOPLE):
        person.is_active = False
        person.save(update_fields=["is_active"])  # one by one, so that each is sealed
    (folder / SIGN_INS).unlink(missing_ok=True)


def _write_policy(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "policy.json"
    if not path.exists():
        path.write_text(json.dumps(POLICY, indent=1))


def _write_secret(path: Path, text: str) -> None:
    making = path.with_name(path.name + ".new")
    with open(os.open(making, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    making.rename(path)
