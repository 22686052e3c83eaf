"""The agents' door: who may knock, and with which key."""

from django.conf import settings
from django.db import models

from app.fleet.models import Node


class NodeKey(models.Model):
    """The secret an agent made at enrolment. `key_id` is its fingerprint, shown on both sides.

    `counter` is the highest one used; it only ever rises, and a request that does not raise it is a repeat. `nonce` names the
    stay of the machine that uses this key: another after a boot, and never again one it had before. See `sessions`.
    """

    node = models.ForeignKey(Node, models.PROTECT, related_name="keys")
    key_id = models.CharField(max_length=16, unique=True)
    secret = models.BinaryField()  # sealed, see `vault`; empty once the key is revoked
    counter = models.BigIntegerField(default=0)
    hostname = models.CharField(max_length=255, blank=True)  # what the agent called itself when it enrolled
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    nonce = models.CharField(max_length=64, blank=True)
    nonce_at = models.DateTimeField(null=True, blank=True)  # when this stay was first seen
    nonces_before = models.JSONField(default=list, blank=True)  # newest first
    odd_nonce = models.CharField(max_length=64, blank=True)  # one that only ever came with counters used before
    odd_count = models.IntegerField(default=0)
    doubled_at = models.DateTimeField(null=True, blank=True)  # since when two machines have this key
    doubled_why = models.TextField(blank=True)
    jumped_at = models.DateTimeField(null=True, blank=True)  # when a request first came with a counter that no agent could have reached
    jumped_why = models.TextField(blank=True)
    journal = models.CharField(max_length=60, blank=True)  # the farthest its journal was said to be: "<generation>:<height>"
    held = models.TextField(blank=True)  # why the agent itself does nothing but look; "" when it need not

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["node"], condition=models.Q(revoked_at__isnull=True), name="one_key_per_node"),
        ]

    def __str__(self) -> str:
        return f"key {self.key_id} of {self.node}"


class EnrolToken(models.Model):
    """A one-time right to enrol one node. Only its SHA-256 is kept; the text is shown once."""

    node = models.ForeignKey(Node, models.PROTECT, related_name="tokens")
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True)  # empty: from the command line
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"token for {self.node} until {self.expires_at}"
