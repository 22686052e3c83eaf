"""What we do about it: runs, their plans, who approved them, the orders sealed for nodes, and what is held meanwhile.

The SQL beside the migrations makes the database hold the rules that must survive our own mistakes: no approver had a hand
in the run, an approval stands in the ledger, a destructive order has enough of them and holds its pool, what is lost by it was
accepted by name, a plan has one order, an order moves only along its life, a fence only rises, and what was sealed or approved
is never edited.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from app.accounts.models import User
from workflows.engine.state import ORDER_IS_OUT, RunState

PERSON = settings.AUTH_USER_MODEL
LOCK_KEY = r"^[a-z]+:[^*?[:space:]]+$"  # as PostgreSQL reads it: one thing, and no wildcard


class Run(models.Model):
    """One walk through one runbook, for one target. `state` is the engine's; `step` and `status` are copied out of it.

    `version` rises with everything a person decides on, so a page that shows an older one is turned away.
    """

    runbook = models.CharField(max_length=60)
    definition_digest = models.CharField(max_length=64)
    params = models.JSONField()
    node = models.CharField(max_length=63, db_index=True)
    requester = models.ForeignKey(PERSON, models.PROTECT, related_name="runs")
    owner = models.ForeignKey(PERSON, models.PROTECT, related_name="owned_runs", null=True)  # who is responsible now; empty: the requester
    handed_by = models.ForeignKey(PERSON, models.PROTECT, related_name="+", null=True)  # until the owner has said "I have it"
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
        constraints = (
            models.UniqueConstraint(
                fields=["situation_key"], condition=Q(ended_at__isnull=True) & ~Q(situation_key=""), name="one_open_run_per_situation"
            ),
        )
        indexes = (models.Index(fields=["due_at"], condition=Q(ended_at__isnull=True), name="run_due"),)

    def __str__(self) -> str:
        return f"run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def minder(self) -> User:
        """Who sees to this run now."""
        return self.owner or self.requester

    @property
    def here(self) -> RunState:
        return RunState.from_json(self.state)


class Hand(models.Model):
    """A person took part in this run: asked for it, chose, confirmed, gave the order. None of them may approve it, ever."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="hands")
    person = models.ForeignKey(PERSON, models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["run", "person"], name="one_hand_per_person_and_run"),)

    def __str__(self) -> str:
        return f"{self.person} had a hand in run {self.run_id}"


class Plan(models.Model):
    """A plan as it was shown. Its digest names it, and approvals and the one order point to it."""

    digest = models.CharField(max_length=64, primary_key=True)
    run = models.ForeignKey(Run, models.PROTECT, related_name="plans")
    round = models.IntegerField()
    body = models.JSONField()
    made_at = models.DateTimeField()
    approvals_needed = models.SmallIntegerField(default=1)  # as the runbook says; the database takes 0 as 1 where it matters
    accepts = models.TextField(
        blank=True, default="", db_default=""
    )  # what giver and approvers must accept by name; see workflows.engine.plan_losses

    class Meta:
        ordering = ("run", "round")
        constraints = (models.UniqueConstraint(fields=["run", "round"], name="one_plan_per_round"),)

    def __str__(self) -> str:
        return f"plan {self.digest[:12]} of run {self.run_id}"


class Approval(models.Model):
    """One person's yes to one plan: for a while, for one order, and only as far as the ledger holds it."""

    plan = models.ForeignKey(Plan, models.PROTECT, related_name="approvals")
    approver = models.ForeignKey(PERSON, models.PROTECT, related_name="approvals")
    at = models.DateTimeField()
    proved_at = models.DateTimeField()  # when the approver last typed the password
    expires_at = models.DateTimeField()
    leaf = models.CharField(max_length=64)  # of the ledger event that records it

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["plan", "approver"], name="one_yes_per_person_and_plan"),
            models.UniqueConstraint(fields=["leaf"], condition=~Q(leaf=""), name="one_approval_per_event"),
        )

    def __str__(self) -> str:
        return f"{self.approver} approved {self.plan_id[:12]}"


class BrokenGlass(models.Model):
    """One person went on alone with one plan. It is open until another person has reviewed it, and meanwhile stops the next."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="glasses")
    plan = models.OneToOneField(Plan, models.PROTECT, related_name="glass")
    person = models.ForeignKey(PERSON, models.PROTECT, related_name="glasses")
    reason = models.TextField()
    at = models.DateTimeField()
    proved_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    leaf = models.CharField(max_length=64, unique=True)
    reviewer = models.ForeignKey(PERSON, models.PROTECT, related_name="+", null=True, blank=True)
    reviewed_at = models.DateTimeField(null=True, blank=True)
    review = models.TextField(blank=True)  # what the reviewer says of it

    class Meta:
        ordering = ("-at",)
        constraints = (
            models.UniqueConstraint(fields=["person"], condition=Q(reviewed_at__isnull=True), name="one_unreviewed_glass_per_person"),
            models.CheckConstraint(condition=~Q(reason=""), name="glass_has_a_reason"),
            models.CheckConstraint(
                condition=Q(reviewed_at__isnull=True, reviewer__isnull=True, review="")
                | (Q(reviewed_at__isnull=False, reviewer__isnull=False) & ~Q(review="") & ~Q(reviewer=models.F("person"))),
                name="glass_is_reviewed_by_another",
            ),
        )

    def __str__(self) -> str:
        return f"{self.person} broke the glass in run {self.run_id}"


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
    proved_at = models.DateTimeField(null=True, blank=True)  # when who sealed it last typed the password; empty for a pure one
    nonce = models.CharField(max_length=64, blank=True)  # the node's stay it was made out to
    signature = models.TextField(blank=True)
    signed_by = models.CharField(max_length=16, blank=True)  # id of the order key

    status = models.CharField(max_length=10, default="SEALED")
    reason = models.TextField(blank=True)
    held_back = models.TextField(blank=True)  # why the node was last refused
    claimed_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    receipt = models.JSONField(null=True, blank=True)  # as the node wrote it, without the bodies of its captures
    receipt_digest = models.CharField(max_length=64, blank=True)  # of the whole receipt, kept as evidence
    folded = models.BooleanField(default=False, db_default=False)  # a look that the ledger records with others; see app.runs.folded_reads

    class Meta:
        ordering = ("-sealed_at",)
        constraints = (models.UniqueConstraint(fields=["plan"], name="one_order_per_plan"),)
        indexes = (models.Index(fields=["node", "status"], condition=Q(status__in=ORDER_IS_OUT), name="order_out"),)

    def __str__(self) -> str:
        return f"order {self.id} ({self.operation} on {self.node})"


class ResourceLock(models.Model):
    """Something a run holds while it changes a node: "pool:<guid>", "disk:<wwid>", "bay:<enclosure id>/<slot>".

    Agents remember the highest fence per pool and refuse a lower one; the database lets none be given twice.
    """

    key = models.TextField(primary_key=True)
    run = models.ForeignKey(Run, models.PROTECT, related_name="locks")
    fence = models.BigIntegerField()
    taken_at = models.DateTimeField()

    class Meta:
        ordering = ("key",)
        constraints = (models.CheckConstraint(condition=Q(key__regex=LOCK_KEY), name="lock_names_one_thing"),)

    def __str__(self) -> str:
        return self.key


class OpenLoop(models.Model):
    """Something a run switched on that is not switched off yet: a copy out of the run's state, which is what counts."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="loops")
    node = models.CharField(max_length=63, db_index=True)
    loop = models.CharField(max_length=60)
    what = models.TextField()
    undo = models.TextField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ("at", "pk")
        constraints = (models.UniqueConstraint(fields=["run", "loop"], name="one_loop_of_a_kind_per_run"),)

    def __str__(self) -> str:
        return self.what


class TechnicianLink(models.Model):
    """A way for a technician at the rack to do what one run asks for, for one visit, from one browser, without an account.

    What opens it is not kept, only its SHA-256; nor is what the browser that opened it is known by.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="technician_links")
    step = models.CharField(max_length=60)  # at which the run stood when it was made
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(PERSON, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    browser_hash = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=80, blank=True)  # as typed by who opened it; it is not checked
    opened_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)  # when its holder said to be done

    class Meta:
        ordering = ("-made_at",)
        constraints = (
            models.UniqueConstraint(fields=["browser_hash"], condition=~Q(browser_hash=""), name="one_link_per_browser"),
            models.CheckConstraint(
                condition=Q(opened_at__isnull=True, browser_hash="", name="")
                | (Q(opened_at__isnull=False) & ~Q(browser_hash="") & ~Q(name="")),
                name="an_open_link_is_somebodys",
            ),
        )

    def __str__(self) -> str:
        return f"link of {self.made_by} to the rack of run {self.run_id}"


class LockFence(models.Model):
    """The highest fence a lock ever had. It outlives the lock."""

    key = models.TextField(primary_key=True)
    fence = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.key} at {self.fence}"


class KeyRotation(models.Model):
    """One order key took over from another: what the old one signed, so that agents that know only that one can follow."""

    statement = models.TextField()  # canonical; see app.runs.ordering.key_rotation
    key = models.CharField(max_length=16, unique=True)  # the one that signed this, and nothing after it
    signature = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"from {self.key} at {self.at}"
