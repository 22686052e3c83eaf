"""A simulated storage node behind `Host`: same commands, same files, same refusals, and a memory of what was done to it.

    reads    answered from the state file and the clock
    writes   put on record (`commands.log`, synced), then done under the lock of the state file

`zpool replace` takes `knobs.replace_seconds` and has its effect in the middle of them: whoever is killed or times out
before that has done nothing, afterwards everything.
"""

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agents.host.host import Agrees, LocalHost, Ran, Region
from twin import (
    adding,
    drive_logs,
    hotplug,
    image,
    importer,
    light_tools,
    members,
    partitioning,
    past,
    replacing,
    sas,
    smart,
    snapshots,
    tuning,
)
from twin.answer import Answer
from twin.commands import WRITERS, disk_asked, is_installed, is_read, read_command, unknown
from twin.files import BAY_ATTRIBUTES, bay_folder, device_folder, light_folder
from twin.memory import MemoryStore
from twin.model import FAULT_ASKED, FAULT_SENSED, Bay, Enclosure, Node
from twin.scan import is_due, settle
from twin.store import Store
from twin.view import View

MEMBER_VERBS = ("online", "offline", "clear", "detach", "scrub", "resilver", "remove")


class OutOfTime(Exception):
    """The command was still at it when its time was up."""


class TwinHost:
    def __init__(
        self,
        state: str | os.PathLike[str] | MemoryStore,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.store = state if isinstance(state, MemoryStore) else Store(state)
        self._clock = clock
        self._sleep = sleep
        self._settled: tuple[View, float] | None = None  # the view that was last seen to be due for nothing, and when

    def now(self) -> float:
        return self._clock()

    def view(self) -> View:
        """The node as it is now: a resilver that is over by the clock has ended."""
        now = self.now()
        view = self.store.view()
        if self._settled and self._settled[0] is view and self._settled[1] == now:
            return view
        if not is_due(view.node, now) and not sas.has_grown(view.node, now) and not importer.goes_on(view.node, now):
            self._settled = view, now
            return view
        with self.store.changing() as node:
            settle(node, now)
            importer.go_on(node, now)
            if sas.has_grown(node, now):
                sas.grow(node, now)
        return self.store.view()

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        started, argv = self.now(), tuple(argv)
        if argv[:1] == ("openssl",):
            return LocalHost().run(argv, timeout_seconds)  # signatures are real, also on a node that is not
        if not argv or not is_installed(argv[0]) or argv[0] in _absent(self.store.view().node):
            return Ran(argv, None, b"", b"", 0.0, "not found")
        ends = started + timeout_seconds
        try:
            answer = self._answer(argv, ends)
        except OutOfTime:
            return Ran(argv, None, b"", b"", timeout_seconds, "timeout")
        return Ran(argv, answer.exit_code, answer.stdout.encode("utf-8"), answer.stderr.encode("utf-8"), self.now() - started)

    def _answer(self, argv: tuple[str, ...], ends: float) -> Answer:
        if not is_read(argv):
            self.store.log(argv, self.now())
        view = self.view()
        faults = view.node.faults
        self._wait(sum(slow.seconds for slow in faults.slow if list(argv[: len(slow.argv)]) == slow.argv), ends)
        if disk_asked(view, argv) in faults.hangs:
            self._wait(ends - self.now() + 1, ends)
        if is_read(argv):
            command, args = read_command(argv)
            return command(self.view(), args, self.now()) if command else unknown(argv)
        return self._write_command(argv, ends)

    def _write_command(self, argv: tuple[str, ...], ends: float) -> Answer:
        verb = argv[1] if argv[0] == "zpool" and len(argv) > 1 else ""
        if argv[:2] == ("zfs", "destroy"):
            return self._destroy(argv)
        if verb in ("replace", "attach"):
            return self._replace(argv, ends)
        if verb == "add":
            return self._add(argv)
        if verb in ("import", "export"):
            return self._in_or_out(argv)
        if verb == "scrub" and self._hangs_over(argv[2:]):
            self._wait(ends - self.now() + 1, ends)
        if verb in MEMBER_VERBS or argv[:2] == ("zpool", "set"):
            with self._changing() as node:
                answer = members.set_path(node, argv[2:]) if verb == "set" else members.change(node, verb, argv[2:], self.now())
                if answer and not answer.exit_code:
                    past.record(node, argv, self.now())
            return answer or unknown(argv)
        if argv[0] == "sdparm":
            return self._set_mode(argv)
        if argv[0] in light_tools.NAMES.values():
            with self._changing() as node:
                tool = light_tools.of(node, argv[0])
                switched = light_tools.answer(node, tool, argv[1:]) if tool is not None else None
            return switched or unknown(argv)
        if argv[0] in WRITERS:
            with self._changing() as node:
                made = partitioning.sgdisk(node, argv[1:]) if argv[0] == "sgdisk" else partitioning.proxmox_boot_tool(node, argv[1:])
            return made or unknown(argv)
        if argv[:3] == ("smartctl", "-t", "short") and len(argv) == 4:
            with self._changing() as node:
                device = View(node).device(argv[3])
                return (
                    unknown(argv)
                    if device is None or not device.is_whole
                    else drive_logs.begin_test(device.disk, smart.heading(node), self.now())
                )
        return unknown(argv)

    def _destroy(self, argv: tuple[str, ...]) -> Answer:
        with self._changing() as node:
            answer = snapshots.destroy(node, argv[2:])
            if answer and not answer.exit_code:
                past.record(node, argv, self.now())
        return answer or unknown(argv)

    def _hangs_over(self, pools: Sequence[str]) -> bool:
        """2.1 and 2.4 refuse to scrub a suspended pool; 2.2 and 2.3 begin to, and wait for it in the kernel (POOL_CHECK_NONE in module/zfs/zfs_ioctl.c)."""
        node = self.view().node
        return (2, 2) <= node.release < (2, 4) and any(pool.suspended for pool in node.imported if pool.name in pools)

    def _set_mode(self, argv: tuple[str, ...]) -> Answer:
        verb, _, mode = argv[1].partition("=") if len(argv) > 2 else ("", "", "")
        with self._changing() as node:
            device = View(node).device(argv[-1])
            if (
                verb not in ("--set", "--clear")
                or mode not in drive_logs.MODES
                or device is None
                or not device.is_whole
                or set(argv[2:-1]) - {"--save"}
            ):
                return unknown(argv)
            return drive_logs.set_mode(device.disk, argv[-1], mode, verb == "--set", "--save" in argv)

    def _in_or_out(self, argv: tuple[str, ...]) -> Answer:
        wanted = importer.parse(argv[2:]) if argv[1] == "import" else None
        with self._changing() as node:
            answer = (
                importer.bring_in(node, wanted, self.now()) if wanted else importer.let_go(node, argv[2:]) if argv[1] == "export" else None
            )
        return answer or unknown(argv)

    def _replace(self, argv: tuple[str, ...], ends: float) -> Answer:
        wanted = replacing.parse(argv[2:], argv[1] == "attach")
        if wanted is None:
            return unknown(argv)
        refusal = replacing.refused_by_tool(self.view(), wanted)
        if refusal:
            return refusal
        half = self.view().node.knobs.replace_seconds / 2
        self._wait(half, ends)
        with self._changing() as node:
            # Another process may have taken the disk meanwhile.
            answer = replacing.refused_by_tool(View(node), wanted) or replacing.attach(node, wanted, self.now())
            if not answer.exit_code:
                past.record(node, argv, self.now())
        self._wait(half, ends)
        return answer

    def _add(self, argv: tuple[str, ...]) -> Answer:
        wanted = adding.parse(argv[2:])
        if wanted is None:
            return unknown(argv)
        with self._changing() as node:
            answer = adding.refused_by_tool(View(node), wanted) or adding.add(node, wanted)
            if not answer.exit_code:
                past.record(node, argv, self.now())
        return answer

    @contextmanager
    def _changing(self) -> Iterator[Node]:
        with self.store.changing() as node:
            settle(node, self.now())
            yield node

    def _wait(self, seconds: float, ends: float) -> None:
        """What takes no time does not run out of it, whatever another thread's command did to a clock of tests."""
        if seconds <= 0:
            return
        left = ends - self.now()
        self._sleep(max(0.0, min(seconds, left)))
        if seconds > left:
            raise OutOfTime

    def read(self, path: str) -> bytes:
        view = self.view()
        if view.node.faults.hangs and self._is_behind_a_hanging_disk(view.node, view.tree.resolve(path)[0]):
            raise TimeoutError(errno.ETIMEDOUT, "Connection timed out", path)
        return view.tree.read(path)

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        """Of a disk that is named by a stable link, as what is written to it names it. By a kernel name there are no bytes, so a report has
        zdb read every label."""
        device = self.view().device(path)
        if device is None or not path.startswith("/dev/disk/by-id/"):
            raise OSError(errno.EOPNOTSUPP, "a twin's disks hold no bytes", path)
        return image.held(self.view().node, device.disk, regions)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        self.store.log(("erase", path, *(f"{offset}+{length}" for offset, length in regions)), self.now())
        with self._changing() as node:
            device = View(node).device(path)
            if device is None:
                raise OSError(errno.ENOENT, "No such file or directory", path)
            if image.is_held(node, device.disk):
                raise OSError(errno.EBUSY, "Device or resource busy", path)
            agrees(device.path.name, image.held(node, device.disk, regions))
            image.erase(device.disk, regions)
            return image.held(node, device.disk, regions)

    def write(self, path: str, data: bytes) -> None:
        real, _ = self.view().tree.resolve(path)
        parameter = tuning.parameter_at(real)
        with self._changing() as node:
            if parameter:
                self.store.log(("write", path, data.decode("ascii", "replace").strip()), self.now())
                tuning.write(node, parameter, data, self.now())
                return
            if hotplug.attribute_at(node, real):
                self.store.log(("write", path, data.decode("ascii", "replace").strip()), self.now())
                hotplug.write(node, real)
                return
            port = next((one for one in node.ports if real == f"{light_folder(one)}/brightness"), None)
            if port is not None:
                port.locate = min(1, int(data))  # what the class takes: max_brightness is 1
                return
            bay, attribute = _bay_attribute(node, real) or (None, "")
            if bay is None:
                raise PermissionError(errno.EACCES, "Permission denied", path)
            # The kernel refuses other words without an error to the writer: only reading back shows the result.
            if data.strip() in (b"0", b"1"):
                setattr(bay, attribute, int(data) if attribute == "locate" else _fault(bay, int(data)))

    def list(self, pattern: str) -> tuple[str, ...]:
        return self.view().tree.glob(pattern)

    def link(self, path: str) -> str:
        return self.view().tree.resolve(path)[0]

    @staticmethod
    def _is_behind_a_hanging_disk(node: Node, real: str) -> bool:
        hanging = (disk for disk in node.disks if disk.wwid in node.faults.hangs)
        return any(real.startswith(device_folder(node, path) + "/") for disk in hanging for path in disk.paths)


def _absent(node: Node) -> tuple[str, ...]:
    other_tools = (program for program in light_tools.NAMES.values() if light_tools.of(node, program) is None)
    return (*node.faults.absent, *(("proxmox-boot-tool",) if node.boot_uuids is None else ()), *other_tools)


def _fault(bay: Bay, asked: int) -> int:
    return (bay.fault & FAULT_SENSED) | (FAULT_ASKED if asked else 0)


def _bay_attribute(node: Node, real: str) -> tuple[Bay, str] | None:
    folder, _, name = real.rpartition("/")
    if name not in BAY_ATTRIBUTES:
        return None
    places: Sequence[tuple[Enclosure, Bay]] = [(e, b) for e in node.seen_enclosures for b in e.bays]
    return next(((bay, name) for enclosure, bay in places if bay_folder(node, enclosure, bay) == folder), None)
