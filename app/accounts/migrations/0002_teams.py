"""Teams and memberships. What groups and permissions gave before, memberships give from here on; the groups go."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Q

ROLES = [
    ("viewer", "viewer"),
    ("technician", "technician"),
    ("operator", "operator"),
    ("approver", "approver"),
    ("glass-breaker", "glass-breaker"),
    ("admin", "admin"),
]
# the right somebody had -> the role that has it now, for the whole fleet. The lesser ones are contained in the others.
ROLE_OF = {"approve": "approver", "break_glass": "glass-breaker", "enrol": "admin"}
OURS = ("operators", "approvers", "glass-breakers", "administrators")


def move(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Everybody keeps every right there was, whichever way it had come: by a group, by hand, or as a superuser."""
    User, Membership = apps.get_model("accounts", "User"), apps.get_model("accounts", "Membership")
    Permission = apps.get_model("auth", "Permission")
    ours = Permission.objects.filter(content_type__app_label__in=("runs", "nodes"), codename__in=("operate", *ROLE_OF))
    for person in User.objects.all():
        mine = ours if person.is_superuser else ours.filter(Q(group__user=person) | Q(user=person))
        rights = set(ROLE_OF) if person.is_superuser else set(mine.values_list("codename", flat=True))
        roles = {role for right, role in ROLE_OF.items() if right in rights}
        if "operate" in rights and not roles & {"approver", "glass-breaker"}:
            roles.add("operator")
        for role in roles:
            Membership.objects.get_or_create(user=person, team=None, role=role)
    apps.get_model("auth", "Group").objects.filter(name__in=OURS).delete()
    ours.delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=63, unique=True)),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=ROLES, max_length=14)),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="accounts.team",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ("team__name", "role"),
                "constraints": [
                    models.UniqueConstraint(fields=("user", "team", "role"), name="one_role_per_person_and_team"),
                    models.UniqueConstraint(
                        condition=models.Q(("team", None)), fields=("user", "role"), name="one_role_per_person_everywhere"
                    ),
                    models.CheckConstraint(condition=models.Q(("role__in", [role for role, _ in ROLES])), name="a_role_that_exists"),
                ],
            },
        ),
        migrations.AlterModelManagers(name="user", managers=[]),
        migrations.RunPython(move, migrations.RunPython.noop, elidable=True),
    ]
