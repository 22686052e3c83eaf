"""When each source is asked, and what it said last. Every source, and every disk of a per-disk one, is a task of its own.

    due         sources keep their own pace, a little jittered so that a fleet does not march in step
    unchanged   a key whose stamp is the old one is not asked; its last text is known to hold
    hung        a command that had to be killed is tried again at growing intervals, and the report says when
    stuck       a read that never returns is said to, and not repeated until it does
    held        one zpool command at a time; while one hangs no other is started, because it would only queue behind it

A source that hangs is reported as failed while it does: the portal must not take an old text for a fresh one.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agents import VERSION
from agents.collectors import COLLECTORS, block, zdb_label, zdb_uberblocks, zpool_import, zpool_status
from agents.collectors.base import ASLEEP, WOULD_WAKE, Capture
from agents.domain.times import iso, seconds_left
from agents.host.host import Host
from agents.host.worker_pool import Crew, Job
from agents.reporting.capture_set import place
from agents.reporting.change_detector import Noticed
from agents.reporting.source_state import RecordingHost, Source, Trouble, failed, in_order, who_sleeps
from agents.reporting.stored_capture import Kept

FAST_SECONDS = 2.0  # while a short resilver runs, so that its bar moves; a long one moves it no faster than that
FAST_SOURCES = ("zpool_status", "zpool_status_guid", "zpool_status_json")
RING_EVERY_SECONDS_MAX = 60  # what is asked at least this often is cheap enough to be asked whenever ZED rings
PATIENCE_SECONDS = 2.0  # how long a round waits for a slow question before it is reported without
ROUND_SECONDS_MAX = 10.0  # and how long for all of them: the first report of a big node should be a whole one
LOOK_SECONDS = 0.25
HUNG_AFTER_SECONDS = 60.0
RETRY_SECONDS, RETRY_SECONDS_MAX = 30.0, 3600.0
RETRY_HELD_SECONDS_MAX = 300.0  # a whole tool is out of use meanwhile
JITTER = 0.1
AWAKE_SECONDS = 5.0  # a disk that answered so lately has not gone to sleep since: it is the shortest standby timer that ATA has
NAMED = 4  # disks in a sentence
SLEEP = "smart"  # asks in a way that wakes no disk, and says which ones sleep
OWN = "agent"  # the source under which the agent reports on itself


class Schedule:
    """`round`, `next_due` and `close` belong to one thread; everything else may be called from any."""

    def __init__(self, host: Host, clock: Callable[[], float] = time.monotonic, rng: random.Random | None = None) -> None:
        """`clock` says when things are due; how long a question takes is real time."""
        self._host, self._clock, self._rng = host, clock, rng or random.Random()
        self._crew = Crew()
        self._lock = threading.RLock()
        sources = [Source(name, module) for name, module in COLLECTORS.items()]
        self._sources = {source.name: source for source in sources}
        # The few before the many, and those that wake a disk last: by then it is known which ones sleep.
        self._order = sorted(sources, key=lambda source: (source.keyed, source.wakes))
        self._current: dict[str, dict[str, tuple[Kept, ...]]] = {}
        self._stamps: dict[tuple[str, str], Kept] = {}  # by source and stamp
        self._stamped: dict[tuple[str, str], str] = {}  # by source and key
        self._trouble: dict[tuple[str, str], Trouble] = {}
        self._stuck: dict[tuple[str, str], Job] = {}
        self._held: dict[str, str] = {}  # group -> the source that hangs
        self._busy: set[str] = set()  # groups
        self._slow: set[tuple[str, str]] = set()  # asked more than a moment ago
        self._notes: dict[str, str] = {}
        self._listed: tuple[Kept, ...] | None = None
        self._noticed = Noticed()

    def hurry(self) -> None:
        """Ask every source again at the next round, also those that hang or are being asked now: they may say what was before."""
        with self._lock:
            for trouble in self._trouble.values():
                trouble.next_try = 0.0
            self._hurry(self._order)

    def ring(self) -> None:
        """Something happened to a pool: ask what is cheap. What hangs is left to its own rhythm."""
        with self._lock:
            cheap = (source for source in self._order if source.group or source.module.EVERY_SECONDS <= RING_EVERY_SECONDS_MAX)
            self._hurry([source for source in cheap if not self._retries(source)])

    def next_due(self) -> float:
        """When the next source is to be asked; what is being asked is looked after every so often."""
        with self._lock:
            now = self._clock()
            under_way = self.under_way
            dues = [source.due for source in self._order if source.begun is None and self._may_begin(source)]
            return min([*dues, *([now + PATIENCE_SECONDS] if under_way else [])], default=now + HUNG_AFTER_SECONDS)

    def round(self) -> None:
        """Ask what is due and wait a little for the answers. Raises what a collector raised, which none should."""
        with self._lock:
            self._begin_due()
            self._try_again()
        until = time.monotonic() + ROUND_SECONDS_MAX
        while True:
            self._look_after()
            if self._crew.failure is not None:
                raise self._crew.failure
            if self._crew.settled(PATIENCE_SECONDS) or time.monotonic() > until:
                break
            self._crew.pause(LOOK_SECONDS)
        with self._lock:
            self._ask_what_is_news()
            self._keep_own_state()

    def now(self) -> float:
        """By the clock that says how old a text is."""
        return self._clock()

    def learn(self, source: str, captures: Sequence[Capture], asked: float, whole: bool = False) -> None:
        """Take the result of a reading that another caller began at that moment of `now`; `whole` where every key of the source was asked, so that
        what is not among them is gone."""
        with self._lock:
            kept = tuple(Kept(capture, asked) for capture in captures)
            if whole and self._sources[source].keyed:
                self._forget_all_but(self._sources[source], [one.key for one in kept])
            for key, captured in [(one.key, (one,)) for one in kept] if self._sources[source].keyed else [("", kept)]:
                self._keep(source, key, captured)

    def note(self, name: str, text: str) -> None:
        """Something about the agent itself that the portal should see; "" takes it back."""
        with self._lock:
            self._notes[name] = text

    def captures(self) -> tuple[Kept, ...]:
        """What every source said last, always in the same order."""
        with self._lock:
            if self._listed is None:
                order = [*COLLECTORS, OWN]
                self._listed = tuple(kept for name in order for _, captured in in_order(self._current.get(name, {})) for kept in captured)
            return self._listed

    def ages(self) -> dict[str, float]:
        """For each source, how many seconds ago its oldest text was asked for, or was last known to hold."""
        now = self._clock()
        ages: dict[str, float] = {}
        for kept in self.captures():
            ages[kept.source] = max(ages.get(kept.source, 0.0), now - kept.taken)
        return ages

    def taken(self, source: str) -> float | None:
        """As `ages`, for one source; None when it has not said anything yet."""
        return self.ages().get(source)

    @property
    def threads(self) -> int:
        return self._crew.threads

    @property
    def under_way(self) -> bool:
        """Whether something is being asked that has neither answered nor been given up."""
        return any(source.begun is not None for source in self._order)

    def close(self) -> None:
        self._crew.close()

    # What is begun, and how it ends. All of it under the lock.

    def _hurry(self, sources: Iterable[Source]) -> None:
        for source in sources:
            source.due, source.again = 0.0, source.begun is not None

    def _begin_due(self, sources: Sequence[Source] | None = None) -> None:
        now = self._clock()
        for source in self._order if sources is None else sources:
            if source.due <= now and source.begun is None and self._may_begin(source):
                self._begin(source, now)

    def _try_again(self) -> None:
        """A disk that was asked in vain is asked when its time has come, and not only when all disks are: of some things that is once an hour."""
        now = self._clock()
        for (name, key), trouble in self._trouble.items():
            source = self._sources[name]
            if key and not source.group and source.begun is None and trouble.next_try <= now and self._is_free(source, key):
                self._put_or_park(source, key)

    def _is_free(self, source: Source, key: str) -> bool:
        return (source.name, key) not in self._stuck and key not in source.asking

    def _may_begin(self, source: Source) -> bool:
        if (source.name, "") in self._stuck or (source.wakes_all and not self._sleepers_are_known()):
            return False
        return not source.group or (source.group not in self._busy and self._held.get(source.group, source.name) == source.name)

    def _sleepers_are_known(self) -> bool:
        """All but those that take long to answer: one that hangs does not delay the others."""
        smart = self._sources.get(SLEEP)
        if smart is None or smart.begun is None:
            return smart is None or SLEEP in self._current
        return bool(smart.asking) and all((SLEEP, key) in self._slow for key in smart.asking)

    def _begin(self, source: Source, now: float) -> None:
        source.begun, source.hung, source.again = now, False, False
        if source.group:
            self._busy.add(source.group)
        self._put(source, "", self._list if source.keyed else self._ask)

    def _put(self, source: Source, key: str, ask: Callable[[Job], None]) -> None:
        source.asking.add(key)
        self._crew.put(Job(ask, source.name, key, bulk=key != ""))

    def _put_or_park(self, source: Source, key: str) -> None:
        """What wakes a disk waits while it is being found out whether that disk sleeps; no other disk's answer is waited for."""
        disk = source.disk_of(self._host, key)
        if source.wakes and self._sleep_is_asked(disk):
            source.asking.add(key)
            source.parked.setdefault(disk, []).append(key)
        else:
            self._put(source, key, self._ask)

    def _sleep_is_asked(self, disk: str) -> bool:
        smart = self._sources.get(SLEEP)
        return smart is not None and smart.begun is not None and ("" in smart.asking or disk in smart.asking)

    def _unpark(self, answered: Source, key: str) -> None:
        """Something was said, or given up, about sleeping disks: "" is about all of them."""
        if answered.name == SLEEP:
            for source in self._order:
                for disk in [key] if key else list(source.parked):
                    if disk in source.parked and not self._sleep_is_asked(disk):
                        for waiting in source.parked.pop(disk):
                            self._put(source, waiting, self._ask)

    def _go_on(self, source: Source) -> None:
        """Ask the next key of a group's source, or end this round of the source."""
        if source.pending:
            self._put(source, source.pending.popleft(), self._ask)
        elif not source.asking and source.begun is not None:
            self._finish(source, source.begun)

    def _finish(self, source: Source, begun: float) -> None:
        source.begun = None
        source.due = 0.0 if source.again else begun + self._every(source) * self._rng.uniform(1.0 - JITTER, 1.0)
        if source.doubted > self._clock():
            source.due = min(source.due, source.doubted)
        source.due = max([source.due, *self._retries(source)])
        if source.group:
            self._busy.discard(source.group)
            loose = not any(name == source.name for name, _ in self._stuck)
            if loose and not source.hung and self._held.get(source.group) == source.name:
                self._release(source.group)
            self._begin_due()
        elif source.name == SLEEP:
            self._begin_due([source for source in self._order if source.wakes_all])  # they waited to hear which disks sleep

    def _release(self, group: str) -> None:
        """It answers again: whoever could not do without it is asked now."""
        del self._held[group]
        for (name, _), trouble in self._trouble.items():
            if trouble.next_try == math.inf:
                trouble.next_try = self._sources[name].due = 0.0

    def _retries(self, source: Source) -> list[float]:
        """When a source that hangs as a whole may be tried again; empty when it does not. A disk that hangs holds up no source."""
        return [trouble.next_try for (name, key), trouble in self._trouble.items() if name == source.name and (source.group or not key)]

    def _every(self, source: Source) -> float:
        every = float(source.module.EVERY_SECONDS)
        if source.name not in FAST_SOURCES:
            return every
        left = [
            seconds_left(scan.eta)
            for _, scan in self._noticed.scans(self._last_captures(zpool_status.NAME))
            if scan.function in ("resilver", "rebuild") and scan.state == "running"
        ]
        return min([every, *(max(FAST_SECONDS, seconds / 100) for seconds in left)])

    # What a thread of the crew does.

    def _list(self, job: Job) -> None:
        """Find out which keys a source has, and ask for each."""
        source = self._sources[job.source]
        recording = self._recording_host(source)
        keys = source.module.keys(recording)
        unlisted = (
            self._packed(source, "", (Capture(source.name, "", "failed", ""),), self._clock(), recording.hung) if recording.hung else ()
        )
        with self._lock:
            now = self._clock()
            if unlisted:
                self._answered(source, job, unlisted, "", recording.hung)
                return
            self._trouble.pop((source.name, ""), None)
            self._forget_all_but(source, keys)
            if job.given_up:
                self._came_loose(source, job)
                return
            source.asking.discard("")
            for key in keys:
                trouble = self._trouble.get((source.name, key))
                if self._is_free(source, key) and (trouble is None or trouble.next_try <= now):
                    source.pending.append(key)
            while source.pending and not source.group:
                self._put_or_park(source, source.pending.popleft())
            self._go_on(source)
            self._unpark(source, "")

    def _ask(self, job: Job) -> None:
        source, began = self._sources[job.source], self._clock()
        recording, asleep = self._recording_host(source), self._asleep(source, job.key)
        stamp = source.module.stamp(recording, job.key) if hasattr(source.module, "stamp") and not asleep else ""  # it reads the disk, too
        known = self._stamps.get((source.name, stamp)) if stamp else None
        if asleep:
            answers: tuple[Kept, ...] = (Kept(Capture(source.name, job.key, "nothing", "", asleep), began),)
        elif known is not None:
            answers = (known.repeated(began, job.key),)
        else:
            captures = source.module.collect_one(recording, job.key) if source.keyed else source.module.collect(recording)
            answers = self._packed(source, job.key, (captures,) if source.keyed else captures, began, recording.hung)
        with self._lock:
            self._answered(source, job, answers, stamp, recording.hung)

    def _recording_host(self, source: Source) -> RecordingHost:
        """A source of the group that hangs may try it again; the others leave its tool alone."""
        with self._lock:
            return RecordingHost(self._host, [group for group in self._held if group != source.group], self._seen_awake)

    def _packed(self, source: Source, key: str, captures: Sequence[Capture], began: float, hung: str) -> tuple[Kept, ...]:
        """Outside of the lock, because this is what costs time."""
        if hung:
            with self._lock:
                captures = self._in_vain(source, key, captures, hung)
        last = {kept.key: kept for kept in self._current.get(source.name, {}).get(key, ())}
        return tuple(Kept(capture, began, last.get(capture.key)) for capture in captures)

    def _answered(self, source: Source, job: Job, captures: tuple[Kept, ...], stamp: str, hung: str) -> None:
        where = (source.name, job.key)
        self._keep(source.name, job.key, captures)
        if not hung:
            self._trouble.pop(where, None)
        if stamp and all(kept.outcome == "data" for kept in captures):
            if not source.keyed:  # nothing else can have its old one
                self._stamps = {one: kept for one, kept in self._stamps.items() if one[0] != source.name}
            self._stamps[source.name, stamp], self._stamped[where] = captures[0], stamp
        if job.given_up:
            self._came_loose(source, job)
            return
        source.asking.discard(job.key)
        if hung:
            self._hold(source, job.key)
        self._unpark(source, job.key)
        self._go_on(source)

    def _came_loose(self, source: Source, job: Job) -> None:
        """It was given up and answered after all: perhaps everything is well again."""
        self._stuck.pop((source.name, job.key), None)
        source.due = 0.0

    def _asleep(self, source: Source, key: str) -> str:
        """Which disk asking this would wake, of those that were found asleep when last asked in a way that wakes no disk; "" for none."""
        if source.wakes:
            disk = source.disk_of(self._host, key)
            return f"{disk} {ASLEEP}" if who_sleeps(self._sleep_captures(disk)) else ""
        if not source.wakes_all:
            return ""
        with self._lock:
            sleeping = [name for each in self._current.get(SLEEP, {}).values() for name in who_sleeps(each)]
        return f"{', '.join(sleeping[:NAMED])} {WOULD_WAKE}" if sleeping else ""

    def _seen_awake(self, disk: str) -> bool:
        return any(kept.outcome == "data" and self._clock() - kept.taken <= AWAKE_SECONDS for kept in self._sleep_captures(disk))

    def _sleep_captures(self, disk: str) -> tuple[Kept, ...]:
        """What was last said about a disk's sleep."""
        captures = self._current.get(SLEEP, {})
        return captures.get(disk) or tuple(kept for kept in captures.get("", ()) if kept.key == disk)

    # What hangs.

    def _look_after(self) -> None:
        now = time.monotonic()
        jobs = self._crew.look_after()
        with self._lock:
            self._slow = {(job.source, job.key) for job in jobs if job.slow and job.key}
            self._begin_due([source for source in self._order if source.wakes_all])  # they waited to hear which disks sleep
            for job in jobs:
                if not job.given_up and now - job.started > self._patience(job):
                    self._give_up(job, "The read hangs in the kernel and is not repeated until it returns.", now - job.started)
            if sum(job.given_up and job.bulk for job in jobs) >= self._crew.bulk_max:
                for job in self._crew.waiting():
                    if job.bulk and not job.given_up:
                        self._give_up(
                            job, f"Questions to {self._crew.bulk_max} other disks hang, and no more than that are left waiting.", 0.0
                        )

    def _patience(self, job: Job) -> float:
        """Longer than the source itself gives its commands or its reading."""
        module = self._sources[job.source].module
        return max(HUNG_AFTER_SECONDS, 1.5 * max(getattr(module, "TIMEOUT_SECONDS", 0), getattr(module, "BUDGET_SECONDS", 0)))

    def _give_up(self, job: Job, why: str, seconds: float) -> None:
        source = self._sources[job.source]
        job.given_up = True
        self._stuck[source.name, job.key] = job
        reason = f"{place(source.name, job.key)} was asked at {self._wall(-seconds)} and has not answered. {why}"
        self._keep(source.name, job.key, (Kept(Capture(source.name, job.key, "failed", "", reason), self._clock()),))
        source.asking.discard(job.key)
        self._hold(source, job.key)
        self._unpark(source, job.key)
        self._go_on(source)

    def _in_vain(self, source: Source, key: str, captures: Sequence[Capture], hung: str) -> tuple[Capture, ...]:
        """A command had to be killed: when it is tried again, and what is said meanwhile. The text stays until then."""
        where = (source.name, key)
        trouble = self._trouble.get(where) or Trouble(self._wall(), 0.0, 0)
        trouble.tries += 1
        if hung == "held":
            trouble.next_try = math.inf  # until the one that hangs answers
            self._trouble[where] = trouble
            return failed(captures, f"{place(*where)} needs a tool that hangs, and is asked again when that answers.")
        limit = RETRY_HELD_SECONDS_MAX if source.group else RETRY_SECONDS_MAX
        first = max(RETRY_SECONDS, source.module.EVERY_SECONDS) if hung == "stuck" else RETRY_SECONDS
        delay = min(limit, first * 2.0 ** min(trouble.tries - 1, 16))
        trouble.next_try = self._clock() + delay
        self._trouble[where] = trouble
        again = "next try" if trouble.tries > 1 else "second try"  # one may be chance: a node short of CPU does that, too
        reason = f"{place(*where)} was asked at {trouble.since} and has not answered; {again} {self._wall(delay)}."
        if hung == "stuck":
            reason += " Its process is stuck in the kernel and cannot be killed."
        return failed(captures, reason)

    def _hold(self, source: Source, key: str) -> None:
        """One of a group hangs: the others are not asked, and say so, until it answers."""
        source.hung = True
        source.pending.clear()
        if not source.group or source.group in self._held:
            return
        self._held[source.group] = source.name
        reason = f"is not asked while {place(source.name, key)}, asked at {self._wall()}, has not answered."
        for other in self._order:
            if other.group == source.group and other is not source:
                for key, captures in self._current.get(other.name, {"": ()}).items():
                    keys = [kept.key for kept in captures] or [key]
                    unasked = (Capture(other.name, key, "failed", "", f"{place(other.name, key)} {reason}") for key in keys)
                    self._keep(other.name, key, tuple(Kept(capture, self._clock()) for capture in unasked))

    def _wall(self, seconds: float = 0.0) -> str:
        return iso(self._host.now() + seconds)[:19] + "Z"

    # What is known.

    def _keep(self, source: str, key: str, captures: tuple[Kept, ...]) -> None:
        """Under the lock."""
        self._doubt(source, self._current.get(source, {}).get(key, ()), captures)
        self._current.setdefault(source, {})[key] = captures
        self._stamped.pop((source, key), None)
        self._listed = None

    def _doubt(self, name: str, before: tuple[Kept, ...], after: tuple[Kept, ...]) -> None:
        """A source whose text is implausible after the text before it is read once more, soon."""
        source = self._sources.get(name)
        if source is not None and hasattr(source.module, "doubtful") and source.module.doubtful(before, after):
            source.doubted = self._clock() + source.module.DOUBT_SECONDS
            source.due = min(source.due, source.doubted)

    def _forget_all_but(self, source: Source, keys: Sequence[str]) -> None:
        """A source that is gone is read no more, and stamps of no source are not needed."""
        kept, here = self._current.setdefault(source.name, {}), set(keys)
        for key in [key for key in kept if key not in here]:
            del kept[key]
            self._listed = None
            self._trouble.pop((source.name, key), None)
            self._stamped.pop((source.name, key), None)
        stamps = {stamp for (name, _), stamp in self._stamped.items() if name == source.name}
        for name, stamp in [where for where in self._stamps if where[0] == source.name and where[1] not in stamps]:
            del self._stamps[name, stamp]

    def _keep_own_state(self) -> None:
        lines = [f"version:{VERSION}", *(f"hangs:{place(*where)}" for where in sorted(self._stuck))]
        left_behind: tuple[Any, ...] = getattr(self._host, "left_behind", tuple)()
        lines += [f"left_behind:{' '.join(argv)}" for argv in sorted(left_behind)]
        lines += [f"{name}:{text}" for name, text in sorted(self._notes.items()) if text]
        own = Kept(Capture(OWN, "", "data", "\n".join(lines) + "\n"), self._clock())
        before = self._current.get(OWN, {}).get("")
        if before is not None and before[0].digest == own.digest:
            before[0].taken = own.taken
        else:
            self._keep(OWN, "", (own,))

    def _ask_what_is_news(self) -> None:
        """A label says that its disk is being filled, and is read seldom: when a resilver ends it must be read again. And what is asked of
        disks once an hour is asked of one that came now: else its health is not known. Pools are listed seldom, too, and a failover waits for it;
        uberblocks tell whether an import looks for another host first, and none is offered before they are read."""
        if self._noticed.a_scan_ended(self._last_captures(zpool_status.NAME)):
            self._hurry([self._sources[zdb_label.NAME]])
        if self._noticed.a_disk_came(self._last_captures(block.NAME)):
            self._hurry(one for one in self._order if one.keyed and not one.group and one.module.EVERY_SECONDS > RING_EVERY_SECONDS_MAX)
        news = self._noticed.changed_labels(kept for captures in self._current.get(zdb_label.NAME, {}).values() for kept in captures)
        if news.exports:
            self._hurry([self._sources[zpool_import.NAME]])
        if news.pools:
            self._hurry([self._sources[zdb_uberblocks.NAME]])

    def _last_captures(self, source: str) -> tuple[Kept, ...]:
        return self._current.get(source, {}).get("", ())
