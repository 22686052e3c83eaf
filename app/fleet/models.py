"""What exists: nodes, disks, and where and how each disk was seen, from when to when.

History is kept as intervals: a row with `until` empty is how things are now. Nothing here is deleted; a disk that
moves gets a new row and keeps the old one. Guids are decimal text, because half of them do not fit a signed bigint.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

NODE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
NOW = Q(until__isnull=True)
NO_POOL = 1000  # the margin of what concerns no pool: it stands after all that does


class Runs(models.Func):
    """Every run of four characters of a text, for an index; see `0007_parts_of_guids.py` and `parts.py`."""

    function = "fleet_runs"
    arity = 1
    output_field = ArrayField(models.TextField())


class Node(models.Model):
    """A storage server with an agent."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for its agent"
        ENROLLED = "enrolled", "enrolled"
        BROUGHT = "brought", "brought, without an agent"
        RETIRED = "retired", "retired"

    name = models.CharField(max_length=63, unique=True, validators=[RegexValidator(rf"^{NODE_NAME}\Z")])
    team = models.ForeignKey("accounts.Team", models.SET_NULL, null=True, blank=True, related_name="nodes")  # None: fleet-wide roles only
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    mode = models.CharField(max_length=10, blank=True)  # "observe" or "operate", as its own policy file says
    version = models.CharField(max_length=40, blank=True)  # of the agent
    boot_id = models.CharField(max_length=64, blank=True)
    last_report_at = models.DateTimeField(null=True, blank=True)  # when its captures were taken, by our clock
    report_digest = models.CharField(max_length=64, blank=True)  # of the set of captures; see agents.reporting.capture_set.set_digest
    set_at = models.DateTimeField(null=True, blank=True)  # when that set began to stand
    asked = models.JSONField(default=dict, blank=True)  # source -> when the node asked it last, by our clock, in seconds since 1970
    recording = models.JSONField(
        default=dict, blank=True
    )  # of a brought node: part of what slotlight-collect wrote -> digest of its evidence
    created_at = models.DateTimeField(auto_now_add=True)
    touched = models.SmallIntegerField(default=0)  # app.fleet.ingest.related_nodes.FORM, once what it touches is written down in that form

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("node", args=[self.name])

    @property
    def is_brought(self) -> bool:
        """Whether it has no agent, and a person brought what was collected there; see `app/snapshots`."""
        return self.state == self.State.BROUGHT


class Report(models.Model):
    """The set of captures a node stands by now: "zdb_label/sda1" -> digest of what it said."""

    node = models.OneToOneField(Node, models.PROTECT, primary_key=True)
    captures = models.JSONField(default=dict)
    changed_at = models.DateTimeField()  # when this set first arrived
    pending = models.JSONField(
        default=list, blank=True
    )  # sets that came and went and are not in the ledger yet; see app.fleet.ingest.report_ledger_batching
    pending_since = models.DateTimeField(null=True, blank=True, db_index=True)

    def __str__(self) -> str:
        return f"report of {self.node}"


class Earlier(models.Model):
    """What a source whose numbers grow said from when to when, for as long as its collector's HISTORY_SECONDS reach back."""

    node = models.ForeignKey(Node, models.PROTECT, related_name="earlier")
    source = models.CharField(max_length=40)
    captures = models.JSONField()  # place -> digest, of this source only
    since = models.DateTimeField()  # when it was first asked and said so
    until = models.DateTimeField(null=True, blank=True)  # when it was last asked and still said so; empty while it does

    class Meta:
        ordering = ["-since"]
        indexes = [models.Index(fields=["node", "source", "-since"], name="earlier_newest")]

    def __str__(self) -> str:
        return f"{self.source} of {self.node} from {self.since}"


class Disk(models.Model):
    """A physical drive, known by its LU WWID."""

    wwid = models.TextField(unique=True)
    serial = models.TextField(blank=True)
    vendor = models.TextField(blank=True)
    model = models.TextField(blank=True)
    firmware = models.TextField(blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    first_seen_at = models.DateTimeField()
    # What it said of itself before and says no more, newest first: {"serial", "node", "until"}. Two disks with one WWID show here.
    former_serials = models.JSONField(default=list, blank=True)
    parts = ArrayField(
        models.TextField(), default=list, blank=True
    )  # of WWID and serials, by which a part of one is found; see app.fleet.pages.disk_search

    class Meta:
        ordering = ["wwid"]
        indexes = [
            models.Index(fields=["wwid"], condition=~Q(former_serials=[]), name="disk_other_serial"),
            models.Index(fields=["serial"], name="disk_serial"),
            GinIndex(fields=["parts"], name="disk_part", fastupdate=False),
        ]

    def __str__(self) -> str:
        return self.wwid

    def get_absolute_url(self) -> str:
        return reverse("disk", args=[self.wwid])


class Sighting(models.Model):
    """One node seeing one disk under one kernel name, in one place, from when to when."""

    disk = models.ForeignKey(Disk, models.PROTECT, related_name="sightings")
    node = models.ForeignKey(Node, models.PROTECT, related_name="sightings")
    name = models.TextField()  # kernel name; belongs to another disk after the next boot
    hctl = models.TextField(blank=True)
    by_id = models.TextField(blank=True)
    sas_address = models.TextField(blank=True)  # of the disk's port at the end of this path
    enclosure_id = models.TextField(blank=True)
    slot = models.IntegerField(null=True, blank=True)
    pool = models.TextField(blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-since", "name"]
        constraints = [
            models.UniqueConstraint(fields=["node", "name"], condition=NOW, name="one_disk_per_kernel_name"),
        ]
        indexes = [
            models.Index(fields=["enclosure_id", "slot"], name="sighting_bay"),
            models.Index(fields=["until"], condition=~NOW, name="sighting_ended"),
            models.Index(fields=["name", "until"], name="sighting_name"),
            models.Index(fields=["hctl"], name="sighting_hctl"),
            models.Index(fields=["sas_address"], name="sighting_port"),
            models.Index(fields=["node", "slot"], condition=NOW, name="sighting_slot"),
        ]

    def __str__(self) -> str:
        return f"{self.disk} as {self.name} on {self.node}"


class LabelSeen(models.Model):
    """What a partition of a disk claimed to be, as `zdb -l` read it, from when to when."""

    disk = models.ForeignKey(Disk, models.PROTECT, related_name="labels")
    node = models.ForeignKey(Node, models.PROTECT, related_name="labels")
    partition = models.TextField()
    pool_guid = models.CharField(max_length=20, blank=True)
    pool = models.TextField(blank=True)
    vdev_guid = models.CharField(max_length=20)
    state = models.IntegerField()  # 0 active, 1 exported, 2 destroyed, 3 spare, 4 l2cache
    hostname = models.TextField(blank=True)
    txg = models.CharField(max_length=20, blank=True)  # the last one read; a new txg is not a new label
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-since", "partition"]
        indexes = [
            models.Index(fields=["node"], condition=NOW, name="label_now"),
            models.Index(fields=["vdev_guid"], name="label_vdev"),
            models.Index(fields=["pool_guid"], name="label_pool"),
            models.Index(fields=["pool"], name="label_pool_name"),
            GinIndex(Runs("vdev_guid"), name="label_vdev_part", fastupdate=False),
            GinIndex(Runs("pool_guid"), name="label_pool_part", fastupdate=False),
        ]

    def __str__(self) -> str:
        return f"vdev {self.vdev_guid} of {self.pool or 'no pool'} on {self.disk}"


class LeafHistory(models.Model):
    """One state of one leaf vdev of an imported pool, from when to when; `before` is what it left."""

    node = models.ForeignKey(Node, models.PROTECT, related_name="leaves")
    pool_guid = models.CharField(max_length=20)
    pool = models.TextField()
    vdev_guid = models.CharField(max_length=20)
    name = models.TextField()
    before = models.TextField(blank=True)
    state = models.TextField()
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-since", "name"]
        constraints = [
            models.UniqueConstraint(fields=["node", "pool_guid", "vdev_guid"], condition=NOW, name="one_state_per_leaf"),
        ]
        indexes = [
            models.Index(fields=["since"], name="leaf_since"),
            models.Index(fields=["vdev_guid"], name="leaf_vdev"),
            GinIndex(Runs("vdev_guid"), condition=NOW, name="leaf_vdev_part", fastupdate=False),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.pool} is {self.state}"


class Situation(models.Model):
    """Something wrong, from the report that showed it to the report that no longer did."""

    key = models.TextField()
    slug = models.CharField(max_length=60)
    node = models.ForeignKey(Node, models.PROTECT, related_name="situations")
    severity = models.CharField(max_length=10)  # "act", "watch" or "info"
    title = models.TextField()
    opened_as = models.TextField(blank=True)  # its title when it was opened, with what was measured then; empty in rows of older versions
    data = models.JSONField()  # the rest of workflows.engine.core.Situation: meaning, evidence, answers, subject, sure, cause
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    # What lists are ordered, filtered and folded by; the same as in `severity` and `data`, where SQL finds it.
    rank = models.SmallIntegerField(default=0)  # place of its severity, the worst first
    margin = models.SmallIntegerField(default=NO_POOL)  # disks that the worst pool it concerns may still lose, see `severity.margin`
    cause_key = models.TextField(blank=True)
    pool = models.TextField(blank=True)

    class Meta:
        ordering = ["-opened_at"]
        constraints = [
            models.UniqueConstraint(fields=["key"], condition=Q(closed_at__isnull=True), name="one_open_situation_per_key"),
        ]
        indexes = [
            models.Index(fields=["rank", "margin", "opened_at"], condition=Q(closed_at__isnull=True), name="situation_worst"),
            models.Index(fields=["cause_key"], condition=Q(closed_at__isnull=True), name="situation_cause"),
            GinIndex(SearchVector("title", config="simple"), condition=Q(closed_at__isnull=True), name="situation_words"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("situation", args=[self.pk])

    # What pages add: `unexplained_reviews.voice` and `views.under_causes`
    reviewed: "ReviewedWord | None"
    tone: str
    urgency: str
    explained: bool

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def cause(self) -> str:
        """Key of the situation that explains this one; empty for one that stands by itself."""
        cause: str = self.data.get("cause", "")
        return cause


class Touch(models.Model):
    """One thing that a node touches, by its last report: by these the nodes are found that bear on one another.

    See `workflows/facts/fleet/related_nodes.py`. A row that does not bind is a doubt: what the node may touch, for all that is known.
    """

    node = models.ForeignKey(Node, models.PROTECT, related_name="touches")
    thing = models.TextField()
    binds = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "thing"], name="one_touch_per_thing")]
        indexes = [models.Index(fields=["thing", "node"], name="touch_thing")]

    def __str__(self) -> str:
        return f"{self.node} touches {self.thing}"


class ReviewedWord(models.Model):
    """A word of a source that nothing explains, and that an administrator has looked at."""

    sign = models.TextField(unique=True)  # the source and the word, without its numbers
    text = models.TextField()
    why = models.TextField()
    by = models.ForeignKey("accounts.User", models.PROTECT, related_name="+")
    at = models.DateTimeField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.text


class Standing(models.Model):
    """How a node stands in the list of the fleet, by its facts and its open situations when they were last read."""

    node = models.OneToOneField(Node, models.PROTECT, primary_key=True, related_name="standing")
    rank = models.SmallIntegerField()  # place of its tone, the worst first
    margin = models.SmallIntegerField(default=NO_POOL)  # that of the worst of its situations
    tone = models.CharField(max_length=10)
    why = models.TextField()
    disks = models.IntegerField(null=True)  # empty when they are not known
    hostname = models.TextField(blank=True)
    restless = models.BooleanField(default=False)  # something is under way there, so time alone may change what is to be said
    settled_at = models.DateTimeField()  # when it was last looked at
    changed_at = models.DateTimeField()  # when that last said something new
    judged_by = models.CharField(max_length=16, blank=True, default="")  # a digest of the rules by which that was said

    class Meta:
        indexes = [models.Index(fields=["rank", "node"], name="standing_worst"), models.Index(fields=["hostname"], name="standing_host")]

    def __str__(self) -> str:
        return f"{self.node}: {self.why}"


class PoolNow(models.Model):
    """One imported pool as its node reported it last, in the words of the list."""

    node = models.ForeignKey(Node, models.PROTECT, related_name="pools_now")
    place = models.SmallIntegerField()  # in the order of `zpool status`
    name = models.TextField()
    guid = models.CharField(max_length=20, blank=True)  # empty when it is not known
    state = models.TextField()
    tone = models.CharField(max_length=10)
    left = models.TextField()  # redundancy, in words
    left_tone = models.CharField(max_length=10)
    percent = models.TextField(blank=True)  # of the scan that runs
    vdevs = models.TextField(blank=True)  # guids of its vdevs that have others below them, divided by spaces

    class Meta:
        ordering = ["node", "place"]
        constraints = [models.UniqueConstraint(fields=["node", "place"], name="one_pool_per_place")]
        indexes = [
            models.Index(fields=["name"], name="pool_name"),
            models.Index(fields=["guid"], name="pool_guid"),
            GinIndex(Runs("guid"), name="pool_guid_part", fastupdate=False),
            GinIndex(Runs("vdevs"), name="pool_vdev_part", fastupdate=False),
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.node}"
