"""What is written about an incident afterwards: over which runs and which time, what was collected, every version of the narrative.

The words of people are rows here and evidence in the ledger: each version and each comment is kept there by its digest.
"""

from django.conf import settings
from django.db import models
from django.urls import reverse

PERSON = settings.AUTH_USER_MODEL


class Postmortem(models.Model):
    """One incident. `collected` is the timeline with what stands around it, as `app.postmortems.collecting` made it."""

    title = models.CharField(max_length=200)
    runs = models.ManyToManyField("runs.Run", related_name="postmortems")
    situation = models.ForeignKey("fleet.Situation", models.PROTECT, related_name="postmortems", null=True, blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField()
    begun_by = models.ForeignKey(PERSON, models.PROTECT, related_name="+")
    begun_at = models.DateTimeField()
    version = models.IntegerField(default=0)  # of the narrative; rises with each edit
    collected = models.JSONField(default=dict)
    collected_digest = models.CharField(max_length=64, blank=True)
    collected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-begun_at",)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("postmortem", args=[self.pk])


class Version(models.Model):
    """The narrative as one person saved it. Never changed; the newest one stands."""

    postmortem = models.ForeignKey(Postmortem, models.PROTECT, related_name="versions")
    number = models.IntegerField()
    sections = models.JSONField()  # slug of app.postmortems.narrative.SECTIONS -> Markdown
    digest = models.CharField(max_length=64)  # of its canonical form, kept as evidence
    by = models.ForeignKey(PERSON, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-number",)
        constraints = (models.UniqueConstraint(fields=["postmortem", "number"], name="one_text_per_version"),)

    def __str__(self) -> str:
        return f"version {self.number} of {self.postmortem_id}"


class Comment(models.Model):
    """A person's comment on it, beside the narrative."""

    postmortem = models.ForeignKey(Postmortem, models.PROTECT, related_name="comments")
    text = models.TextField()
    by = models.ForeignKey(PERSON, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("at", "pk")

    def __str__(self) -> str:
        return f"{self.by} on {self.postmortem_id}"
