"""./run: from a folder to a portal that answers. What has not changed since the last start is skipped."""

import argparse
import asyncio
import compileall
import json
import os
import shutil
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from launcher.bootstrap import ROOT
from launcher.children import popen_options
from launcher.datafolder import DataFolder, static_files, tree_digest
from launcher.installation import AGENTS, PORTAL, Installation
from launcher.say import Stop, paint, write
from launcher.schema import schema_files
from launcher.supervisor import Child, Supervisor

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # an address to listen on -> one to connect to
PORT = 8000
BACKLOG = 512
SIGN_INS = "sign-ins.json"  # written by `manage.py demo`
MADE = "made-for"
TRY = "try-"  # what the nodes of scenarios are called, before the scenario's name; as workflows.rehearsal.tryout names them
ROOT_WARNING = (
    "SecurityWarning|absolutely not recommended|--uid option|User information: uid=0|_warn_or_raise_security"  # we said it ourselves
)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run", description="Start Slotlight and, without --no-demo, its demo fleet.")
    parser.add_argument("--port", type=int, default=PORT, help=f"where to listen ({PORT})")
    parser.add_argument("--host", default="127.0.0.1", help="which address to listen on (127.0.0.1)")
    parser.add_argument("--data", type=Path, default=data_folder(), help="the data folder (./var, or SLOTLIGHT_DATA)")
    parser.add_argument("--no-demo", dest="demo", action="store_false", help="no demo fleet and no demo sign-ins")
    parser.set_defaults(scenario="")
    return parser


def demo_parser() -> argparse.ArgumentParser:
    from workflows.rehearsal import scenarios

    more = parser()
    more.prog = "./run demo"
    more.add_argument("--scenario", choices=sorted(scenarios.names()), default="", help="add the node that needs the runbook of this name")
    return more


def data_folder() -> Path:
    return Path(os.environ.get("SLOTLIGHT_DATA") or ROOT / "var")


def up(args: list[str]) -> int:
    return start(parser().parse_args(args))


def demo(args: list[str]) -> int:
    """The same, with the demo for certain and, when asked for, a scenario's node beside it."""
    options = demo_parser().parse_args(args)
    if not options.demo:
        raise Stop("./run demo and --no-demo contradict each other. `./run --no-demo` starts without the demo fleet.")
    return start(options)


def start(options: argparse.Namespace) -> int:
    began = time.monotonic()
    folder = DataFolder(options.data)
    folder.open()
    refuse_public_demo(options, folder)
    listener = listen(options.host, options.port)
    return asyncio.run(Start(options, folder, listener, began).run())


def listen(host: str, port: int) -> socket.socket:
    """Take the port now: it is ours before anything else is started, and stays ours while web starts again."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Uvicorn takes a socket that is handed to it for a Unix one and leaves Nagle's delay on: 40 ms for every answer in two pieces.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)  # without it another program could still bind the same port
    except PermissionError:
        raise Stop(
            f"Port {port} is for the system's own services, and we may not listen on it. Choose one above 1023 with --port."
        ) from None
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) == 98 or "in use" in str(error):
            raise Stop(f"Port {port} is taken by another program. Choose another with --port {port + 1}, or stop that program.") from None
        raise Stop(f"We cannot listen on {host} port {port}: {error}. Choose others with --host and --port.") from None
    return listener


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def hosts(host: str) -> str:
    """The names that requests may use for us: those in SLOTLIGHT_HOSTS, else loopback and what this machine is called."""
    if setting := os.environ.get("SLOTLIGHT_HOSTS"):
        return setting
    names = [*map(in_url, LOOPBACK)]
    if host not in LOOPBACK:
        names += [socket.gethostname(), socket.getfqdn(), *([] if host in EVERYWHERE else [in_url(host)])]
    return ",".join(dict.fromkeys(names))


def refuse_public_demo(options: argparse.Namespace, folder: DataFolder) -> None:
    """The demo's sign-ins are printed, so they must not be reachable from elsewhere."""
    if options.host in LOOPBACK:
        return
    if options.demo:
        raise Stop(f"The demo fleet's sign-ins are for this machine only. Add --no-demo to listen on {options.host}.")
    if (folder.home / "demo" / MADE).exists():
        raise Stop(f"{folder.data} holds the demo fleet and its sign-ins. Give another folder with --data to listen on {options.host}.")


class Start:
    """One start of one installation, from the first check to the last goodbye."""

    def __init__(self, options: argparse.Namespace, folder: DataFolder, listener: socket.socket, began: float) -> None:
        self.options, self.folder, self.listener, self.began = options, folder, listener, began
        self.site = Installation(folder)
        self.port = listener.getsockname()[1]
        self.url = f"http://{in_url(options.host)}:{self.port}/"
        self.supervisor = Supervisor()
        self.asked_to_stop = asyncio.Event()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(sign, self._ask)
        work = asyncio.create_task(self._bring_up())
        asked = asyncio.create_task(self.asked_to_stop.wait())
        try:
            await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            await self.asked_to_stop.wait()
            return 0
        finally:
            work.cancel()
            self.supervisor.note("Stopping.")
            await self.supervisor.stop()

    def _ask(self) -> None:
        if self.asked_to_stop.is_set():
            self.supervisor.kill()
        self.asked_to_stop.set()

    async def _bring_up(self) -> None:
        for sentence in self._oddities():
            self.supervisor.note(sentence)
        static = asyncio.create_task(self._collect_static())
        await asyncio.to_thread(self.site.make_cluster)
        await asyncio.gather(self._prepare(), static)
        await self.supervisor.start(self._web(), self._worker(), self._beat())
        self.folder.write_state(pid=str(os.getpid()), url=self.url, sockets=str(self.site.sockets))
        if self.options.demo:
            await self.supervisor.start(*self._twins())
        self._announce()

    def _oddities(self) -> list[str]:
        found = [self.site.why_root] if self.site.why_root else []
        if self.folder.moved and (self.site.postgres or self.site.valkey):
            found.append(f"Data is kept in {self.folder.home}: {self.folder.user.name} may not enter {self.folder.data}.")
        return found

    # What must be true before the portal starts

    async def _collect_static(self) -> None:
        digest = tree_digest(*static_files())
        if self.folder.stamped("static", digest) and (self.site.static / "staticfiles.json").exists():
            return
        compile_for_others(self.site)
        shutil.rmtree(self.site.static)
        self.site.user.own(self.site.static)
        await self._once("static", [str(ROOT / "manage.py"), "collectstatic", "--noinput", "--verbosity=0"], self.site.environment())
        self.folder.stamp("static", digest)

    async def _prepare(self) -> None:
        """Servers up, schema as the code requires it, the demo fleet loaded. Skips what was done before for the same files."""
        schema = tree_digest(*schema_files(ROOT)) + self.site.identity()
        fresh = bool(self.site.postgres) and self.folder.stamped("schema", schema)
        make_demo = self.options.demo and not self._demo_is_made()
        scenario = "" if not self.options.scenario or (not make_demo and self._scenario_is_made()) else self.options.scenario
        process = None
        if make_demo:
            shutil.rmtree(self.site.demo, ignore_errors=True)
            self.site.user.own(self.site.demo)
        if make_demo or scenario or not fresh:
            demo = str(self.site.demo) if make_demo or scenario else ""
            process = await self._begin([*PREPARE, demo, scenario], self.site.owner_environment())
        await self.site.start_servers(self.supervisor)
        if process:
            await self._finish_preparing(process, make_demo, scenario)
            self.folder.stamp("schema", schema)

    async def _finish_preparing(self, process: asyncio.subprocess.Process, make_demo: bool, scenario: str) -> None:
        if self.site.postgres:
            await asyncio.to_thread(self.site.make_roles)
        preparing = _end(process, "prepare", b"go\n")
        twins: list[list[str]] = [["twin"]] if make_demo else []
        twins += [["workflows.rehearsal", "--scenario", scenario]] if scenario else []
        output, _ = await asyncio.gather(preparing, asyncio.gather(*(self._make_twins(*one) for one in twins)))
        if TAKEN_OVER in output:
            write(output.strip())
        if make_demo:
            (self.site.demo / MADE).write_text(self.site.identity())

    async def _make_twins(self, module: str, *more: str) -> None:
        await self._once("twins", ["-m", module, "--make", str(self.site.demo), *more], self.site.agent_environment())

    def _scenario_is_made(self) -> bool:
        return (self.site.demo / f"{TRY}{self.options.scenario}" / "state.json").exists()

    def _demo_is_made(self) -> bool:
        made = self.site.demo / MADE
        return made.exists() and made.read_text() == self.site.identity()

    async def _begin(self, argv: list[str], environment: dict[str, str]) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *argv,
            env=environment,
            cwd=ROOT,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT,
            **popen_options(self.site.user, signal.SIGTERM),
        )

    async def _once(self, name: str, argv: list[str], environment: dict[str, str]) -> str:
        return await _end(await self._begin(argv, environment), name, b"")

    # What keeps running

    def _child(self, name: str, *argv: str, **more: Any) -> Child:
        environment = self.site.environment() | {"SLOTLIGHT_HOSTS": hosts(self.options.host)}
        return Child(name, [sys.executable, *argv], environment, self.site.user, PORTAL, cwd=str(ROOT), **more)

    def _web(self) -> Child:
        self.listener.set_inheritable(True)
        fd = self.listener.fileno()
        quiet = ("--no-access-log", "--no-server-header", "--no-proxy-headers", "--log-level", "warning")
        argv = ("-m", "uvicorn", "app.asgi:application", "--fd", str(fd), "--timeout-graceful-shutdown", "3", *quiet)
        return self._child("web", *argv, pass_fds=(fd,), ready=lambda pid: answers(self._health()))

    def _health(self) -> urllib.request.Request:
        host = EVERYWHERE.get(self.options.host, self.options.host)
        name = hosts(self.options.host).split(",")[0]  # Django answers only to names it is configured with
        return urllib.request.Request(f"http://{in_url(host)}:{self.port}/healthz", headers={"Host": name})

    def _worker(self) -> Child:
        # Gossip and mingling are for fleets of workers that elect things; mingling alone waits a second.
        flags = ("--concurrency=2", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO")
        argv = ("-m", "celery", "--quiet", "-A", "app.celery:celery", "worker", *flags)
        return self._child("worker", *argv, ready_line=r"celery@\S+ ready\.", patience_seconds=20, hide=ROOT_WARNING)

    def _beat(self) -> Child:
        return self._child("beat", "-m", "celery", "--quiet", "-A", "app.celery:celery", "beat", "--loglevel=WARNING")

    def _twins(self) -> list[Child]:
        names = sorted(path.parent.name for path in self.site.demo.glob("*/state.json"))
        return [self._twin(name) for name in names]

    def _twin(self, name: str) -> Child:
        where = ("--dir", str(self.site.demo), "--node", name)
        argv = [sys.executable, "-m", "twin", *where, "--portal", self.url, "--token-file", str(self.site.demo / f"{name}.token")]
        return Child(name, argv, self.site.agent_environment(), self.site.user, AGENTS, cwd=str(ROOT))

    def _announce(self) -> None:
        write("")
        write(f"  {paint('Slotlight is ready', '1;32')} after {time.monotonic() - self.began:.1f} s:  {paint(self.url, '1;4')}")
        if self.options.demo and self.options.host in LOOPBACK:
            for name, password in json.loads((self.site.demo / SIGN_INS).read_text()).items():
                write(f"  Sign in as {paint(name, 1)} with {paint(password, 1)}")
        if self.options.scenario:
            node = f"{TRY}{self.options.scenario}"
            write(f"  {paint(node, 1)} needs the runbook {self.options.scenario}. Its rack, for your hands: ./run rack {node}")
        write("  Ctrl-C stops it.")
        write("")


PREPARE = ("-m", "launcher.prepare")
TAKEN_OVER = "rows about people are sealed"  # what `identity first` says of an installation from before there were seals


async def _end(process: asyncio.subprocess.Process, name: str, word: bytes) -> str:
    """Give a one-time process its word, wait for it, and return what it said."""
    output, _ = await process.communicate(word)
    text = output.decode(errors="replace")
    if process.returncode:
        raise Stop(f"{name} ended with exit code {process.returncode}. It said:\n{text.strip()[-4000:]}")
    return text


def compile_for_others(site: Installation) -> None:
    """As root, compile the code once: `nobody` may not write the results and would compile at every start."""
    if site.user.uid != os.geteuid():
        for name in ("app", "agents", "twin", "workflows", "confined"):
            compileall.compile_dir(ROOT / name, quiet=2)


def answers(request: urllib.request.Request) -> bool:
    """Whether web is up and reaches its database. Stops when it is up and broken."""
    try:
        with urllib.request.urlopen(request, timeout=2) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        if error.code == 503:  # the database is not there yet
            return False
        raise Stop(f"web answers with status {error.code} and reported no health. Its output is above.") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
