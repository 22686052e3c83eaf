"""What was brought of a host without an agent: when, by whom, in which form, and what of it is known and lacking."""

from django.conf import settings
from django.db import models

from app.fleet.models import Node


class Snapshot(models.Model):
    node = models.ForeignKey(Node, models.PROTECT, related_name="snapshots")
    digest = models.CharField(max_length=64, unique=True)  # of the archive as it came; it is not kept itself
    form = models.CharField(max_length=40)
    taken_at = models.DateTimeField()  # when the collection began, by the host's clock, or as the person says
    brought_at = models.DateTimeField()
    brought_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    hostid = models.CharField(max_length=64, blank=True)
    boot_id = models.CharField(max_length=64, blank=True)
    holds = models.JSONField(default=list)
    lacks = models.JSONField(default=list)
    others = models.IntegerField(default=0)  # files that are not read here and were dropped
    recording = models.JSONField(default=dict, blank=True)  # part of the archive -> digest of what is kept of it

    class Meta:
        ordering = ["-taken_at"]

    def __str__(self) -> str:
        return f"{self.form} of {self.node}, taken {self.taken_at}"
