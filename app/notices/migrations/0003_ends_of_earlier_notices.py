"""What was told before notices had stable keys, and still stands, gets one: else nobody is ever told that it is over."""

from typing import Any

from django.db import migrations


def give_ends(apps: Any, schema_editor: Any) -> None:
    """An incident for each thing that stands, on each channel that was told of it. What is over by now was told then."""
    Happening, Notice, Incident = (apps.get_model("notices", name) for name in ("Happening", "Notice", "Incident"))
    found = _abouts(Happening, apps.get_model("fleet", "Situation"))
    earlier = Notice.objects.filter(incident="", ends=False, key__in=found)
    for notice in earlier.iterator():
        notice.incident, notice.members = found[notice.key], [found[notice.key]]
        notice.save(update_fields=["incident", "members"])
        Incident.objects.get_or_create(channel_id=notice.channel_id, about=notice.incident, defaults={"key": notice.incident})


def _abouts(Happening: Any, Situation: Any) -> dict[str, str]:
    """Key of a happening -> the stable key of what it began, where that still stands."""
    opened = Happening.objects.filter(kind__in=("situation-opened", "situation-worse")).values_list("key", "said__situation")
    standing = dict(Situation.objects.filter(closed_at=None).values_list("pk", "key"))
    found = {key: f"situation:{standing[situation]}" for key, situation in opened if situation in standing}
    lasting = Happening.objects.filter(kind__in=("node-silent", "ledger-broken"), over=False)
    for key, kind, node in lasting.values_list("key", "kind", "node"):
        found[key] = f"node-silent:{node}" if kind == "node-silent" else "ledger:ledger-broken"
    return found


class Migration(migrations.Migration):
    dependencies = [
        ("notices", "0002_incidents"),
        ("fleet", "0001_initial"),
    ]

    operations = [migrations.RunPython(give_ends, migrations.RunPython.noop)]
