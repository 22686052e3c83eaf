"""Who may act and who may approve. Asked again at every act, when an order is sealed and when the node takes it."""

from django.contrib.auth.management import create_permissions

from app.accounts.models import User

OPERATE, APPROVE = "runs.operate", "runs.approve"
GROUPS = {"operators": ("operate",), "approvers": ("operate", "approve")}


def may(person: User, right: str) -> bool:
    """Whether this person has the right now. Read from the database: what a session remembers may be old."""
    user = User.objects.filter(pk=person.pk, is_active=True).first()
    return user is not None and user.has_perm(right)


def make_groups(sender, **_) -> None:
    """The two roles, made after every migration; members are for an administrator to choose."""
    from django.contrib.auth.models import Group, Permission

    create_permissions(sender, verbosity=0)
    for name, rights in GROUPS.items():
        group, _made = Group.objects.get_or_create(name=name)
        group.permissions.add(*Permission.objects.filter(content_type__app_label="runs", codename__in=rights))
