"""The tokens people made. A token itself is not here: only its public half and the SHA-256 of the whole."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class Token(models.Model):
    """What one person may do through the API, until when. Revoked ones stay: the ledger names them by `prefix`."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=60)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)  # of the whole token; its 256 random bits need no slow hash
    scopes = ArrayField(models.CharField(max_length=10))
    bound = models.CharField(max_length=64, blank=True)  # to the password as it was, for one that acts; empty: to nothing
    made_at = models.DateTimeField()
    proved_at = models.DateTimeField()  # when its person had last typed the password as it was made; it never gets fresher
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-made_at",)
        constraints = (models.CheckConstraint(condition=~models.Q(scopes=[]), name="token_has_a_scope"),)

    def __str__(self) -> str:
        return f"token {self.prefix} of {self.person}"
