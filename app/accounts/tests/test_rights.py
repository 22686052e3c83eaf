"""Who may do what where: by role, by team, and by nothing else."""

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import IntegrityError, transaction

from app.accounts.models import Membership, Role, Team, User
from app.accounts.rights import APPROVE, BREAK_GLASS, ENROL, MANUAL, NOTICES, OPERATE, PEOPLE, RIGHTS, may, may_somewhere, why_not
from app.fleet.models import Node

pytestmark = pytest.mark.django_db
EXPECTED = {
    "viewer": set(),
    "technician": {MANUAL},
    "operator": {MANUAL, OPERATE},
    "approver": {MANUAL, OPERATE, APPROVE},
    "glass-breaker": {MANUAL, OPERATE, BREAK_GLASS},
    "admin": {ENROL, PEOPLE, NOTICES},
}


@pytest.fixture
def fleet():
    """a1 belongs to team A, b1 to team B, and n1 to nobody in particular."""
    a, b = Team.objects.create(name="A"), Team.objects.create(name="B")
    for name, team in (("a1", a), ("b1", b), ("n1", None)):
        Node.objects.create(name=name, team=team)
    return {"A": a, "B": b, "": None}


def person(name: str, role: str = "", team: Team | None = None, **more) -> User:
    made = User.objects.create_user(name, **more)
    if role:
        made.memberships.create(role=role, team=team)
    return made


def allowed(who: User, node: str | None) -> set[str]:
    return {right for right in RIGHTS if may(who, right, node)}


def test_every_role_is_expected_here():
    assert set(EXPECTED) == set(Role.values)


@pytest.mark.parametrize("role", EXPECTED)
def test_a_role_without_a_team_holds_everywhere(fleet, role):
    ann = person("ann", role)
    for node in ("a1", "b1", "n1", "never-seen", None):
        assert allowed(ann, node) == EXPECTED[role], node


@pytest.mark.parametrize("role", EXPECTED)
def test_a_role_in_a_team_holds_for_its_nodes_and_no_others(fleet, role):
    ann = person("ann", role, fleet["A"])
    assert allowed(ann, "a1") == allowed(ann, Node.objects.get(name="a1")) == EXPECTED[role]
    for node in ("b1", "n1", "never-seen", "", None):
        assert allowed(ann, node) == set(), node
    assert {right for right in RIGHTS if may_somewhere(ann, right)} == EXPECTED[role]


def test_an_inactive_person_has_no_right_anywhere(fleet):
    for role in Role.values:
        ann = person(f"was {role}", role, is_active=False)
        assert not any(allowed(ann, node) for node in ("a1", None))
        assert not any(may_somewhere(ann, right) for right in RIGHTS)


def test_no_flag_group_or_permission_replaces_a_role(fleet):
    root = person("root", is_superuser=True, is_staff=True)
    kind = ContentType.objects.get_for_model(Node)
    root.user_permissions.add(Permission.objects.create(content_type=kind, codename="operate", name="x"))
    assert allowed(root, "a1") == set()
    assert not may(User(), OPERATE, "a1")


def test_what_is_taken_away_or_moved_is_gone_at_once(fleet):
    ann = person("ann", "operator", fleet["A"])
    assert may(ann, OPERATE, "a1")
    Node.objects.filter(name="a1").update(team=fleet["B"])
    assert not may(ann, OPERATE, "a1")
    Node.objects.filter(name="a1").update(team=fleet["A"])
    ann.memberships.all().delete()
    assert not may(ann, OPERATE, "a1")


def test_it_asks_one_query(fleet, django_assert_num_queries):
    ann = person("ann", "operator", fleet["A"])
    may(ann, OPERATE, "a1")
    with django_assert_num_queries(2):  # the second: that the node is that team's
        assert may(ann, OPERATE, "a1")
    bob = person("bob", "operator")
    with django_assert_num_queries(1):
        assert may(bob, OPERATE, "a1")


def test_it_says_what_it_takes_and_where(fleet):
    ann = person("ann", "operator", fleet["B"])
    assert why_not(ann, OPERATE, "a1") == "ann may not do this. It takes an operator or an approver for a1."
    assert why_not(ann, ENROL) == "ann may not do this. It takes an administrator for the whole fleet."
    assert why_not(ann, OPERATE, "b1") == ""


def test_the_same_role_is_held_once(fleet):
    for team in fleet.values():
        ann = person(f"of {team}", "operator", team)
        with pytest.raises(IntegrityError), transaction.atomic():
            Membership.objects.create(user=ann, team=team, role="operator")


def test_the_first_person_is_an_administrator_and_no_operator():
    root = User.objects.create_superuser("root")
    assert allowed(root, "a1") == EXPECTED["admin"]


def test_what_groups_and_permissions_gave_is_kept_by_the_migration():
    """The rows as they were before it, made by hand; then the step of the migration itself."""
    kind = ContentType.objects.get(app_label="runs", model="run")
    rights = {
        name: Permission.objects.create(content_type=kind, codename=name, name=name) for name in ("operate", "approve", "break_glass")
    }
    enrol = Permission.objects.create(content_type=ContentType.objects.get(app_label="nodes", model="nodekey"), codename="enrol", name="x")
    gives = {"operators": ("operate",), "approvers": ("operate", "approve"), "glass-breakers": ("operate", "break_glass")}
    for name, codenames in gives.items():
        Group.objects.create(name=name).permissions.set(rights[each] for each in codenames)
    Group.objects.create(name="administrators").permissions.add(enrol)
    people = {
        "ann": ("operators",),
        "bob": ("approvers", "administrators"),
        "cid": ("glass-breakers",),
        "dan": ("operators", "administrators"),
    }
    for name, groups in people.items():
        person(name).groups.set(Group.objects.filter(name__in=groups))
    person("by hand").user_permissions.add(rights["approve"])
    person("root", is_superuser=True)
    person("looks")
    for _ in range(2):  # a second time changes nothing
        import_module("app.accounts.migrations.0002_teams").move(apps, None)
        held = {user.username: set(user.memberships.values_list("role", flat=True)) for user in User.objects.all()}
        assert held == {
            "ann": {"operator"},
            "bob": {"approver", "admin"},
            "cid": {"glass-breaker"},
            "dan": {"operator", "admin"},
            "by hand": {"approver"},
            "root": {"approver", "glass-breaker", "admin"},
            "looks": set(),
        }
    assert not Group.objects.filter(name__in=gives).exists()
