"""Health of disks as exporters print it for Prometheus: node_exporter with its textfile scripts, smartctl_exporter, nvme_exporter, and storcli's and IPMI's.

Forms: smartmon.sh and smartmon.py (`smartmon_device_smart_healthy`, `smartmon_<attribute>_raw_value` with `smart_id`, `smartmon_attr_raw_value` with `name`),
Telegraf's `smart_device`, nvme_metrics.py and .sh, storcli.py (`megaraid_*`) of node-exporter-textfile-collector-scripts; metrics.go of smartctl_exporter; ipmi_exporter (`*_state`: 0 nominal,
1 warning, 2 critical); mdadm of node_exporter (`node_md_disks`, `node_md_state`). Each metric is of its moment, and a 0 of trouble in it is never good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors._attributes import COUNTED
from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted import _conditions
from workflows.pasted._conditions import Counters
from workflows.pasted.base import Reader, Where, plural, refused

_FAMILY = r"(?:smartmon_|smartctl_|smart_device_|nvme_|megaraid_|node_md_|ipmi_)"
_LINE = (
    r" {0,8}smart_(?:device|attribute),\w{2,40}=|"
    rf" {{0,8}}(?:{_FAMILY}\w{{1,80}}(?:\{{[^{{}}]{{0,900}}\}})? [-+0-9.eEINaf]{{1,24}}(?: [0-9]{{9,14}})?$|# (?:HELP|TYPE) {_FAMILY}\w)"
)
_METRIC = re.compile(r" {0,8}(?P<name>[a-z]\w{1,90})(?:\{(?P<labels>[^{}]{0,900})\})? (?P<value>[-+0-9.eEINaf]{1,24})(?: [0-9]{9,14})?$")
_LABEL = re.compile(r"([A-Za-z_]\w{0,40})=\"([^\"]{0,200})\"")
_SMARTMON = re.compile(r"smartmon_(?P<what>\w{3,60})_raw_value$")
_NUMBERS = {
    "reallocated_sector_ct": 5, "end_to_end_error": 184, "reported_uncorrect": 187, "current_pending_sector": 197, "offline_uncorrectable": 198,
    "udma_crc_error_count": 199, "crc_error_count": 199,
}  # fmt: skip
# Telegraf's input `smart`, in InfluxDB's own line form
_INFLUX = re.compile(r" {0,8}smart_device(?P<tags>,(?:\\.|[^ \\]){1,900}) (?P<fields>\w{2,60}=[^ ]{1,1500})")
_NUMBER = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,6})?)[iu]?")
_TRUTH = {"true": 1.0, "false": 0.0, "t": 1.0, "f": 0.0}
_TAG = re.compile(r",(\w{2,60})=((?:\\.|[^,\\]){1,200})")
_FIELDS = {
    "health_ok": "smart_device_health_ok", "pending_sector_count": "smartmon_current_pending_sector_raw_value",
    "reallocated_sectors_count": "smartmon_reallocated_sector_ct_raw_value", "uncorrectable_sector_count": "smartmon_offline_uncorrectable_raw_value",
    "udma_crc_errors": "smartmon_udma_crc_error_count_raw_value", "media_and_data_integrity_errors": "smartctl_device_media_errors",
    "critical_warning": "smartctl_device_critical_warning", "percentage_used": "smartctl_device_percentage_used",
}  # fmt: skip
_SHARE = re.compile(r"_ratio$")
_SPARE = re.compile(r"nvme_available_spare")  # nvme_metrics.sh gives it as a share without saying so


@dataclass(frozen=True)
class Metric:
    name: str
    labels: dict[str, str]
    value: float
    line: str


@dataclass(frozen=True)
class Metrics:
    metrics: tuple[Metric, ...]


def parse(lines: Sequence[str]) -> Metrics | Unparsed:
    found = tuple(metric for line in lines for metric in _of_line(line))
    return Metrics(found) if found else refused("an exporter of metrics", next(iter(lines), ""))


def _of_line(line: str) -> Iterator[Metric]:
    if influx := _INFLUX.match(line[:3000]):
        labels = {name: value.replace("\\", "") for name, value in _TAG.findall(influx["tags"])}
        for name, value in _TAG.findall(f",{influx['fields']}"):
            number = _NUMBER.fullmatch(value)
            if name in _FIELDS and (number or value in _TRUTH):
                yield Metric(_FIELDS[name], labels, float(number.group(1)) if number else _TRUTH[value], line.strip())
    elif (metric := _metric(line)) is not None:
        yield metric


def _metric(line: str) -> Metric | None:
    match = _METRIC.match(line.rstrip()[:1200])
    if match is None or not re.match(_FAMILY, match["name"]):
        return None
    try:
        value = float(match["value"])
    except ValueError:
        return None
    return Metric(match["name"], dict(_LABEL.findall(match["labels"] or "")), value, line.strip())


def situations(value: Metrics, where: Where) -> tuple[Situation, ...]:
    disks: dict[str, Counters] = {}
    for metric in value.metrics:
        if metric.name.startswith(("smartmon_", "smartctl_", "smart_device_", "nvme_")):
            _gather(metric, disks)
    parts = (found for metric in value.metrics for found in _of_part(metric, where))
    return (*_conditions.situations(disks.values(), where, "The metrics"), *parts)


def _gather(metric: Metric, disks: dict[str, Counters]) -> None:
    labels = metric.labels
    name = (labels.get("device") or labels.get("disk") or "").removeprefix("/dev/")
    behind = labels.get("type", "") if "megaraid" in labels.get("type", "") or "cciss" in labels.get("type", "") else ""
    key = f"{name} {behind}".strip()
    if not name or metric.value != metric.value:  # NaN: it was not read
        return
    disk = disks.setdefault(key, Counters(key))
    disk.model = disk.model or labels.get("device_model", "") or labels.get("model_name", "")
    disk.serial = disk.serial or labels.get("serial_number", "")
    if _take(metric, disk):
        disk.lines.append(metric.line[:300])


def _take(metric: Metric, disk: Counters) -> bool:
    """Takes over what a metric says. True where it bears trouble out."""
    name, count = metric.name, int(metric.value) if abs(metric.value) < 1e18 else 0
    if name in ("smartmon_device_smart_healthy", "smartctl_device_smart_status", "smart_device_health_ok"):
        disk.passed = metric.value != 0 and disk.passed is not False
        return metric.value == 0
    if attribute := _attribute(metric):
        disk.count(*attribute, count)
        return count > 0 and attribute[0] in COUNTED
    return _take_figure(name, count, metric.value, disk)


def _attribute(metric: Metric) -> tuple[int, str] | None:
    """Number and name of the row of the attribute table whose raw value this is."""
    labels, own = metric.labels, _SMARTMON.match(metric.name)
    if metric.name == "smartctl_device_attribute":
        raw = labels.get("attribute_value_type") == "raw" and labels.get("attribute_id", "").isdecimal()
        return (int(labels["attribute_id"]), labels.get("attribute_name", "")) if raw else None
    what = labels.get("name", "") if metric.name == "smartmon_attr_raw_value" else own["what"] if own else ""
    number = labels.get("smart_id", "")
    if not what or (not number and what not in _NUMBERS):
        return None
    return (int(number) if number.isdecimal() else _NUMBERS.get(what, 0), "" if what in _NUMBERS else what.title())


def _take_figure(name: str, count: int, value: float, disk: Counters) -> bool:
    percent = round(value * 100) if _SHARE.search(name) or (_SPARE.match(name) and value <= 1) else count
    what = name
    for prefix in ("smartctl_device_", "smartctl_scsi_", "smartctl_", "smartmon_", "nvme_"):
        what = what.removeprefix(prefix) if what == name else what
    for suffix in ("_raw_value", "_total", "_ratio", "_count"):
        what = what.removesuffix(suffix)
    if what in ("critical_warning",):
        disk.critical_warning = count
    elif what in ("media_errors", "media_and_data_integrity_errors"):
        disk.media_errors = count
    elif what in ("percentage_used", "percent_used"):
        disk.percent_used = percent
        return percent >= 90
    elif what == "available_spare":
        disk.spare = percent
        return percent < 100
    elif what in ("available_spare_threshold", "spare_threshold"):
        disk.spare_threshold = percent
        return False
    elif what in ("grown_defect_list", "grown_defects"):
        disk.grown = count
    elif uncorrected := re.fullmatch(r"(read|write|verify)_total_uncorrected_errors", what):
        disk.uncorrected[uncorrected.group(1)] = count
    else:
        return False
    return count > 0


# Of parts that are no disk of the node: what the metric is, from which value on it is trouble, the situation and its words
_PARTS: tuple[tuple[re.Pattern[str], str, Severity, str], ...] = (
    (re.compile(r"megaraid_pd_(?:smart_alerted|predictive_errors(?:_total)?)$"), "disk-failing", "act", "a drive behind the controller predicts its failure"),
    (re.compile(r"megaraid_pd_media_errors(?:_total)?$"), "disk-failing", "watch", "a drive behind the controller counts media errors"),
    (re.compile(r"megaraid_(?:degraded|failed)$"), "hba-fault", "act", "the RAID controller has volumes that are degraded or failed"),
)  # fmt: skip
_STATES_OF_DRIVES = frozenset(("onln", "ugood", "ghs", "dhs", "jbod", "online", "unconfigured(good)"))
_STATES_OF_VOLUMES = frozenset(("optl", "optimal"))


def _of_part(metric: Metric, where: Where) -> Iterator[Situation]:
    labels, state = metric.labels, metric.labels.get("state", "")
    place = ", ".join(
        f"{key} {labels[key]}" for key in ("controller", "enclosure", "slot", "DG", "VG", "device", "name") if labels.get(key)
    )
    for form, slug, severity, words in _PARTS:
        if metric.value > 0 and form.match(metric.name):
            yield _part(slug, severity, f"{place}: {words}", metric, where)
    if metric.name == "megaraid_pd_info" and metric.value == 1 and state and state.lower() not in _STATES_OF_DRIVES:
        yield _part("disk-failing", "act", f"{place}: the controller's state of this drive is {state}", metric, where)
    if metric.name == "megaraid_vd_info" and metric.value == 1 and state and state.lower() not in _STATES_OF_VOLUMES:
        yield _part("hba-fault", "act", f"{place}: the volume is {state}", metric, where)
    if metric.name == "megaraid_battery_backup_healthy" and metric.value == 0:
        yield _part("hba-fault", "watch", f"{place}: the battery of the RAID controller is not well", metric, where)
    if metric.name == "node_md_disks" and state == "failed" and metric.value > 0:
        yield _part("disk-failing", "act", f"{place}: md has given up {plural(int(metric.value), 'disk')} of this array", metric, where)
    if metric.name == "node_md_state" and state == "inactive" and metric.value == 1:
        yield _part("disk-missing", "act", f"{place}: the md array does not run", metric, where)
    if (
        metric.name.startswith("ipmi_")
        and metric.name.endswith("_state")
        and metric.name != "ipmi_chassis_power_state"
        and metric.value in (1, 2)
    ):
        how: Severity = "act" if metric.value == 2 else "watch"
        yield _part(
            "enclosure-fault", how, f"{labels.get('name') or metric.name}: {'critical' if how == 'act' else 'warning'}", metric, where
        )


def _part(slug: str, severity: Severity, title: str, metric: Metric, where: Where) -> Situation:
    what = re.sub(r"[^\w]+", "-", title)[:80]
    return Situation(
        slug, f"{slug}:{where.node}:metrics:{what}", where.node, severity, title,
        f"A metric says: {title}. It is of its moment. Look at the part itself, by the controller's own tool or the machine's event log, before anything is taken out.",
        where.evidence(metric.line[:300]),
        subject={"node": where.node, "text": title}, sure=False,
    )  # fmt: skip


READER = Reader(
    name="disk_metrics",
    first=_LINE,
    goes_on=rf"{_LINE}|# |[a-z]\w{{2,80}}(?:\{{[^{{}}]{{0,900}}\}})? [-+0-9.eEINaf]{{1,24}}(?: [0-9]{{9,14}})?$",
    strict=True,
    open_ended=True,
    inside=frozenset(("notices", "statements", "checks")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=lambda value: (
        f"{plural(len(value.metrics), 'metric')} of disks {'was' if len(value.metrics) == 1 else 'were'} read. What an exporter leaves out it says nothing of; `smartctl -x DEVICE` shows the whole report.",
    ),
    again="smartctl -x DEVICE",
)
