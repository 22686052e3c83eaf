"""Who: the people who look, act and approve, the teams they belong to, and what each may do where."""

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q


class Role(models.TextChoices):
    """What somebody is to a team's nodes. Which rights follow from each is said in `app.accounts.rights`, and nowhere else."""

    VIEWER = "viewer", "viewer"
    TECHNICIAN = "technician", "technician"
    OPERATOR = "operator", "operator"
    APPROVER = "approver", "approver"
    BREAKER = "glass-breaker", "glass-breaker"
    ADMIN = "admin", "admin"


MEANS = {
    Role.VIEWER: "Looks at everything, changes nothing.",
    Role.TECHNICIAN: "Does at the rack what a run asks of hands, and says so.",
    Role.OPERATOR: "Begins runs, walks them and gives orders that another person has approved.",
    Role.APPROVER: "Judges what others ask for; an operator too, never of one's own plans.",
    Role.BREAKER: "An operator who may go on alone where this portal allows it, loudly.",
    Role.ADMIN: "Lets nodes and people in, and shuts them out; no operator by that.",
}


class Team(models.Model):
    """Who looks after a part of the fleet. A node belongs to one team, or to whoever has a role for the whole fleet."""

    name = models.CharField(max_length=63, unique=True)

    class Meta:
        ordering = ("name",)

    def __str__(self):
        return self.name


class People(UserManager):
    use_in_migrations = False

    def create_superuser(self, username, email=None, password=None, **more):
        """The first person of an installation: an administrator of the whole fleet. The flag itself gives no right."""
        person = super().create_superuser(username, email, password, **more)
        person.memberships.get_or_create(team=None, role=Role.ADMIN)
        return person


class User(AbstractUser):
    """A person. Rights come from memberships alone and are asked again at every act; `is_superuser` and groups mean nothing here."""

    objects = People()


class Membership(models.Model):
    """A person has a role in a team; without a team, for every node there is."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="memberships")
    role = models.CharField(max_length=14, choices=Role)
    from_groups = models.BooleanField(default=False)  # given and taken by the identity provider's groups; see app.accounts.sso

    class Meta:
        ordering = ("team__name", "role")
        constraints = (
            models.UniqueConstraint(fields=["user", "team", "role"], name="one_role_per_person_and_team"),
            models.UniqueConstraint(fields=["user", "role"], condition=Q(team=None), name="one_role_per_person_everywhere"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="a_role_that_exists"),
        )

    @property
    def means(self) -> str:
        return MEANS[self.role]

    def __str__(self):
        return f"{self.user} is {self.role} of {self.team or 'the whole fleet'}"
