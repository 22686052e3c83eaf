"""What was rehearsed, and the result. No run, no order and no lock refers to it; after a day it is gone."""

from django.conf import settings
from django.db import models

from app.fleet.models import Situation


class Rehearsal(models.Model):
    situation = models.ForeignKey(Situation, models.CASCADE, related_name="rehearsals")
    runbook = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    choices = models.JSONField(default=dict)  # step -> what was picked there
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="rehearsals")
    asked_at = models.DateTimeField(db_index=True)
    reported_at = models.DateTimeField(null=True, blank=True)  # when the report was taken that it was played on
    ended_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)  # workflows.rehearsal.story.Rehearsed; none when it could not be played
    why_not = models.TextField(blank=True)

    class Meta:
        ordering = ["-asked_at"]

    def __str__(self) -> str:
        return f"rehearsal {self.pk} of {self.runbook}"
