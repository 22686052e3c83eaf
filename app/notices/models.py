"""Who must be notified of what: the outbox, the channels, and what became of each notice.

A happening is written in the transaction that makes it so; the worker words it, folds what belongs together and makes one notice
for each channel. A notice is sent at least once: after a worker died in the middle it is sent again, under the same reference.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from app.fleet.models import Node
from app.fleet.severity import SEVERITY_ORDER, SEVERITY_WORDS

SEVERITIES = [(name, SEVERITY_WORDS[name]) for name in SEVERITY_ORDER]


class Happening(models.Model):
    """The outbox: one thing that happened, by ids. It is worded when it is read."""

    kind = models.CharField(max_length=30)
    key = models.TextField(unique=True)
    node = models.CharField(max_length=63, blank=True)
    run = models.BigIntegerField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField()
    spread_at = models.DateTimeField(null=True, blank=True)  # when notices were made of it, or it was found that there is no one to notify
    over = models.BooleanField(default=False)  # of what lasts, such as a silence: it is over, and that was sent too

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["at"], condition=Q(spread_at__isnull=True), name="happening_waits")]

    def __str__(self) -> str:
        return self.key


class Channel(models.Model):
    """Where notices go: one Apprise URL. The URL is a secret, sealed with the key of the agents' secrets and never shown again."""

    name = models.CharField(max_length=60, unique=True)
    team = models.ForeignKey("accounts.Team", models.PROTECT, null=True, blank=True, related_name="channels")  # empty: every node
    severity = models.CharField(max_length=10, choices=SEVERITIES, default="act")  # and what is worse
    mark = models.CharField(max_length=32, unique=True)  # what the URL is sealed to
    url = models.BinaryField()
    service = models.CharField(max_length=120)  # what may be shown of the URL: the service, and the host where that is no secret
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    zone = models.CharField(max_length=60, default="UTC")
    urgent_passes = models.BooleanField(default=True)  # "act" goes through quiet hours
    is_on = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("channel", args=[self.pk])


class Notice(models.Model):
    """One message to one channel, and what became of it."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting to be sent"
        SENDING = "sending", "being sent"
        SENT = "sent", "delivered"
        FAILED = "failed", "could not be delivered"
        FOLDED = "folded", "told with another notice"

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=30)
    key = models.TextField()
    fold = models.TextField(blank=True)  # what is sent together has the same
    severity = models.CharField(max_length=10)
    urgent = models.BooleanField(default=True)
    title = models.TextField()
    body = models.TextField(blank=True)
    path = models.TextField()  # of the page it is about
    node = models.CharField(max_length=63, blank=True)
    run = models.BigIntegerField(null=True, blank=True)
    at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)  # when it may be tried; while it is being sent, when it is taken for lost
    held = models.BooleanField(default=False)  # by quiet hours
    reason = models.TextField(blank=True)  # what came back the last time
    ended_at = models.DateTimeField(null=True, blank=True)
    into = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="folded")
    incident = models.TextField(blank=True)  # the stable key it is sent under; empty of what neither begins nor ends, such as a test
    members = models.JSONField(default=list, blank=True)  # the stable keys of all that it reports
    ends = models.BooleanField(default=False)  # it reports that something is over

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["channel", "key"], name="one_notice_per_channel_and_key")]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(state__in=("waiting", "sending")), name="notice_due"),
            models.Index(fields=["channel", "fold", "-id"], name="notice_fold"),
            models.Index(fields=["channel", "incident", "-id"], name="notice_incident"),
        ]

    def __str__(self) -> str:
        return self.title


class Incident(models.Model):
    """What one channel was sent, until its end is sent; and the key that it is known there under."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="incidents")
    about = models.TextField()  # the stable key of the thing
    key = models.TextField()  # the same, or that of what it was sent together with

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "about"], name="one_incident_per_channel_and_thing")]

    def __str__(self) -> str:
        return self.about


class Watch(models.Model):
    """Since when this portal has watched without a pause: what could not have been reported meanwhile is no silence."""

    since = models.DateTimeField()
    last_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"watching since {self.since}"


class Hook(models.Model):
    """A door for one Alertmanager. Only the SHA-256 of its token is kept; the text is shown once."""

    name = models.CharField(max_length=60, unique=True)
    team = models.ForeignKey("accounts.Team", models.PROTECT, null=True, blank=True, related_name="hooks")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    received_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class OutsideAlert(models.Model):
    """What another watcher says is wrong, as long as it says so. It is shown beside situations and begins nothing."""

    hook = models.ForeignKey(Hook, models.PROTECT, related_name="alerts")
    fingerprint = models.CharField(max_length=64)
    node = models.ForeignKey(Node, models.PROTECT, null=True, blank=True, related_name="outside_alerts")  # empty: none we know
    where = models.TextField(blank=True)  # what the alert itself calls the machine
    name = models.TextField()
    severity = models.TextField(blank=True)  # in the words of whoever sent it
    summary = models.TextField(blank=True)
    labels = models.JSONField(default=dict)
    starts_at = models.DateTimeField()
    received_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-starts_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["hook", "fingerprint"], condition=Q(resolved_at__isnull=True), name="one_open_alert_per_fingerprint"
            )
        ]

    def __str__(self) -> str:
        return self.name
