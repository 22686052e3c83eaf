"""Who may act and who may approve. Asked again at every act, when an order is sealed and when the node takes it."""

from functools import cache

from django.apps import AppConfig
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db import connection

from app.accounts.models import User

SOMEBODY = -1  # stands for the person's key
OPERATE, APPROVE = "runs.operate", "runs.approve"
GROUPS = {"operators": ("operate",), "approvers": ("operate", "approve")}


def may(person: User, right: str) -> bool:
    """Whether this person has the right now. Read from the database: what a session remembers may be old."""
    sql, params = _question(right)
    with connection.cursor() as cursor:
        cursor.execute(sql, [person.pk if param == SOMEBODY else param for param in params])
        return cursor.fetchone() is not None


@cache
def _question(right: str) -> tuple[str, tuple]:
    """Django's own question, put together once: that takes longer than its answer."""
    return User.objects.with_perm(right).filter(pk=SOMEBODY).values("pk").query.sql_with_params()


def make_groups(sender: AppConfig, using: str = "default", **_) -> None:
    """Give each group exactly its rights of `runs`, after every migration. Who is in them is for an administrator to say."""
    create_permissions(sender, verbosity=0, using=using)
    ours = Permission.objects.using(using).filter(content_type__app_label="runs", codename__in=("operate", "approve"))
    for name, codenames in GROUPS.items():
        group, _made = Group.objects.using(using).get_or_create(name=name)
        group.permissions.remove(*ours.exclude(codename__in=codenames))
        group.permissions.add(*ours.filter(codename__in=codenames))
