"""Who may act and who may approve. Asked again at every act, when an order is sealed and when the node takes it."""

from django.apps import AppConfig
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

from app.accounts.models import User
from app.once import WrittenOnce

OPERATE, APPROVE, BREAK_GLASS = "runs.operate", "runs.approve", "runs.break_glass"
GROUPS = {"operators": ("operate",), "approvers": ("operate", "approve"), "glass-breakers": ("operate", "break_glass")}
OURS = ("operate", "approve", "break_glass")
HAVING = {
    OPERATE: WrittenOnce(lambda pk: User.objects.with_perm(OPERATE).filter(pk=pk).values_list("pk")),
    APPROVE: WrittenOnce(lambda pk: User.objects.with_perm(APPROVE).filter(pk=pk).values_list("pk")),
    BREAK_GLASS: WrittenOnce(lambda pk: User.objects.with_perm(BREAK_GLASS).filter(pk=pk).values_list("pk")),
}


def may(person: User, right: str) -> bool:
    """Whether this person has the right now. Read from the database: what a session remembers may be old."""
    return bool(HAVING[right](person.pk))


def make_groups(sender: AppConfig, using: str = "default", **_) -> None:
    """Give each group exactly its rights of `runs`, after every migration. Who is in them is for an administrator to say."""
    create_permissions(sender, verbosity=0, using=using)
    ours = Permission.objects.using(using).filter(content_type__app_label="runs", codename__in=OURS)
    for name, codenames in GROUPS.items():
        group, _made = Group.objects.using(using).get_or_create(name=name)
        group.permissions.remove(*ours.exclude(codename__in=codenames))
        group.permissions.add(*ours.filter(codename__in=codenames))
