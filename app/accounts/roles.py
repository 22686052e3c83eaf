"""Who may do what: two groups, and the rights of app.runs that each has. Looking needs a sign-in and no role."""

from django.apps import apps
from django.contrib.auth.management import create_permissions

ROLES = {
    "operators": ("operate",),
    "approvers": ("operate", "approve"),
}


def make(using: str = "default", **_) -> None:
    """Give each group exactly its rights of `runs`. Runs after every migrate; what else a group was given stays."""
    from django.contrib.auth.models import Group, Permission

    create_permissions(apps.get_app_config("runs"), verbosity=0, using=using)
    rights = Permission.objects.using(using).filter(content_type__app_label="runs", codename__in=["operate", "approve"])
    for name, codenames in ROLES.items():
        group, _ = Group.objects.using(using).get_or_create(name=name)
        group.permissions.remove(*rights.exclude(codename__in=codenames))
        group.permissions.add(*rights.filter(codename__in=codenames))
