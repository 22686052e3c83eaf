"""Who may let a node in, and shut it out: the group of administrators, and nobody by being an operator."""

from django.apps import AppConfig
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

ENROL = "nodes.enrol"
GROUP = "administrators"


def make_groups(sender: AppConfig, using: str = "default", **_) -> None:
    """Give the group its right, after every migration. Who is in it is for an administrator to say."""
    create_permissions(sender, verbosity=0, using=using)
    right = Permission.objects.using(using).get(content_type__app_label="nodes", codename="enrol")
    group, _made = Group.objects.using(using).get_or_create(name=GROUP)
    group.permissions.add(right)
