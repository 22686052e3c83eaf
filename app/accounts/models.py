"""Who: the people who look, act and approve, the teams they belong to, and what each may do where."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.dispatch import Signal
from django.utils import timezone

made_on_the_host = Signal()  # an administrator, with its `person`


class Role(models.TextChoices):
    """A person's role for a team's nodes. Which rights follow from each is defined in `app.accounts.rights`, and nowhere else."""

    VIEWER = "viewer", "viewer"
    TECHNICIAN = "technician", "technician"
    OPERATOR = "operator", "operator"
    APPROVER = "approver", "approver"
    BREAKER = "glass-breaker", "glass-breaker"
    ADMIN = "admin", "admin"


MEANS: Mapping[str, str] = {
    Role.VIEWER: "Looks at everything, changes nothing.",
    Role.TECHNICIAN: "Does the manual steps of a run at the rack, and reports them.",
    Role.OPERATOR: "Begins runs, walks them and gives orders that another person has approved.",
    Role.APPROVER: "Judges what others ask for; an operator too, never of one's own plans.",
    Role.BREAKER: "An operator who may go on alone where this portal allows it, loudly.",
    Role.ADMIN: "Lets nodes and people in, and shuts them out; no operator by that.",
}


ACTORS = frozenset({"demo", "portal"})  # who else than a person acts, as the ledger says it


class Team(models.Model):
    """Who looks after a part of the fleet. A node belongs to one team, or to whoever has a role for the whole fleet."""

    name = models.CharField(max_length=63, unique=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class People(UserManager["User"]):
    use_in_migrations = False

    def create_superuser(self, username: str, email: str | None = None, password: str | None = None, **more: Any) -> "User":
        """The first person of an installation: an administrator of the whole fleet. The flag itself gives no right.
        The command asks for a password as the pages do only where a person types it. Raises ValidationError."""
        if password is not None:  # without one there is no sign-in by it
            validate_password(password, self.model(username=username, email=email or ""))
        person = super().create_superuser(username, email, password, **more)
        person.memberships.get_or_create(team=None, role=Role.ADMIN)
        made_on_the_host.send(sender=self.model, person=person)
        return person


def _before(moment: datetime | None) -> bool:
    return moment is not None and timezone.now() < moment


class User(AbstractUser):
    """A person. Rights come from memberships alone and are asked again at every act; `is_superuser` and groups mean nothing here.

    Until `counts_at` the rights rest, because of what administrators `changed` of the account; see `app.accounts.waiting`.
    """

    changed = models.TextField(null=True, blank=True)  # "password:root factors:root": what was done, and by whom
    counts_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[People] = People()
    # How many rows of second factors there are, which is sealed: one that is deleted past the portal is missed. See `app.accounts.factors`.
    factors = models.PositiveSmallIntegerField(default=0, db_default=0)

    @property
    def waits(self) -> bool:
        return _before(self.counts_at)

    def clean(self) -> None:
        super().clean()
        if self.username in ACTORS:
            raise ValidationError(f"The ledger calls something else {self.username}. Take another name.")


class Membership(models.Model):
    """A person has a role in a team; without a team, for every node there is."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="memberships")
    role = models.CharField(max_length=14, choices=Role)
    from_groups = models.BooleanField(default=False)  # given and taken by the identity provider's groups; see app.accounts.sso
    given_by = models.ForeignKey(
        User, models.PROTECT, null=True, blank=True, related_name="+"
    )  # None: on the portal's machine, or by groups
    counts_at = models.DateTimeField(null=True, blank=True)  # before that it gives no right; see app.accounts.waiting

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

    @property
    def waits(self) -> bool:
        return _before(self.counts_at)

    @property
    def where(self) -> str:
        return f"nodes of team {self.team}" if self.team else "the whole fleet"

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.team or 'the whole fleet'}"


class Seal(models.Model):
    """What proves that a row about a person was written by this portal; see `app.accounts.seals`."""

    name = models.TextField(primary_key=True)  # "table:key" of the row
    mark = models.TextField(blank=True)  # the newest event of the ledger about that row, as "id:leaf"; empty while there is none
    mac = models.CharField(max_length=64)

    class Meta:
        db_table = "identity_seal"

    def __str__(self) -> str:
        return f"seal of {self.name}"


class Refusal(models.Model):
    """A row about a person that was not accepted lately. The ledger keeps what is said here for ever."""

    name = models.TextField(primary_key=True)
    person = models.TextField(blank=True)
    why = models.TextField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "identity_refusal"
        ordering = ("first_at", "name")

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"
