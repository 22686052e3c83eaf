"""What we do about it: runs, their plans, who approved them, the orders sealed for nodes, and what is held meanwhile.

`migrations/0002_rules.sql` makes the database hold the rules that must survive our own mistakes: the approver is not
the requester, a destructive order has an approved plan and a plan has one order, an order moves only along its life,
and what was sealed or approved is never edited.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from workflows.state import ORDER_IS_OUT, RunState

PERSON = settings.AUTH_USER_MODEL


class Run(models.Model):
    """One walk through one runbook, for one target. `state` is the engine's; `step` and `status` are copied out of it.

    `version` rises with everything a person decides on, so a page that shows an older one is turned away.
    """

    runbook = models.CharField(max_length=60)
    definition_digest = models.CharField(max_length=64)
    params = models.JSONField()
    node = models.CharField(max_length=63, db_index=True)
    requester = models.ForeignKey(PERSON, models.PROTECT, related_name="runs")
    situation_key = models.TextField(blank=True)
    state = models.JSONField()
    step = models.CharField(max_length=60, blank=True)
    status = models.CharField(max_length=10)
    version = models.IntegerField(default=1)
    due_at = models.DateTimeField(null=True, blank=True)  # when to look at it again, whatever happens in between
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        permissions = (("operate", "May begin runs and act in them"), ("approve", "May approve what others ask for"))
        constraints = (
            models.UniqueConstraint(
                fields=["situation_key"], condition=Q(ended_at__isnull=True) & ~Q(situation_key=""), name="one_open_run_per_situation"
            ),
        )
        indexes = (models.Index(fields=["due_at"], condition=Q(ended_at__isnull=True), name="run_due"),)

    def __str__(self):
        return f"run {self.pk}"

    def get_absolute_url(self):
        return reverse("run", args=[self.pk])

    @property
    def here(self) -> RunState:
        return RunState.from_json(self.state)


class Plan(models.Model):
    """A plan as it was shown. Its digest names it, and approvals and the one order point to it."""

    digest = models.CharField(max_length=64, primary_key=True)
    run = models.ForeignKey(Run, models.PROTECT, related_name="plans")
    round = models.IntegerField()
    body = models.JSONField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = (
            "run",
            "round",
        )
        constraints = (models.UniqueConstraint(fields=["run", "round"], name="one_plan_per_round"),)

    def __str__(self):
        return f"plan {self.digest[:12]} of run {self.run_id}"


class Approval(models.Model):
    """One person's yes to one plan. The database refuses the run's requester."""

    plan = models.ForeignKey(Plan, models.PROTECT, related_name="approvals")
    approver = models.ForeignKey(PERSON, models.PROTECT, related_name="approvals")
    at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["plan", "approver"], name="one_yes_per_person_and_plan"),)

    def __str__(self):
        return f"{self.approver} approved {self.plan_id[:12]}"


class Order(models.Model):
    """One operation sealed for one node. `canonical` is the exact text the node gets; its SHA-256 is `digest`."""

    id = models.CharField(max_length=32, primary_key=True)
    node = models.CharField(max_length=63)
    run = models.ForeignKey(Run, models.PROTECT, related_name="orders", null=True, blank=True)
    step = models.CharField(max_length=60, blank=True)
    number = models.IntegerField(default=0)  # which of the run's questions a pure order asks
    operation = models.CharField(max_length=60)
    effect = models.CharField(max_length=15)
    destructive = models.BooleanField()
    plan = models.ForeignKey(Plan, models.PROTECT, related_name="orders", null=True, blank=True)
    canonical = models.TextField()
    digest = models.CharField(max_length=64, unique=True)
    fence = models.BigIntegerField(default=0)
    sealed_by = models.ForeignKey(PERSON, models.PROTECT, related_name="+", null=True, blank=True)  # empty: the portal itself
    sealed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    status = models.CharField(max_length=10, default="SEALED")
    reason = models.TextField(blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    receipt = models.JSONField(null=True, blank=True)  # as the node wrote it, without the bodies of its captures
    receipt_digest = models.CharField(max_length=64, blank=True)  # of the whole receipt, kept as evidence

    class Meta:
        ordering = ("-sealed_at",)
        constraints = (models.UniqueConstraint(fields=["plan"], name="one_order_per_plan"),)
        indexes = (models.Index(fields=["node", "status"], condition=Q(status__in=ORDER_IS_OUT), name="order_out"),)

    def __str__(self):
        return f"order {self.id} ({self.operation} on {self.node})"


class ResourceLock(models.Model):
    """Something a run holds while it changes a node: "pool:<guid>", "disk:<wwid>", "bay:<enclosure id>/<slot>".

    `fence` only ever rises; agents remember the highest per pool and refuse a lower one.
    """

    key = models.TextField(primary_key=True)
    run = models.ForeignKey(Run, models.PROTECT, related_name="locks")
    fence = models.BigIntegerField()
    taken_at = models.DateTimeField()

    class Meta:
        ordering = ("key",)

    def __str__(self):
        return self.key
