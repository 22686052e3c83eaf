"""What ./run can do, one function per command."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from launcher import quick
from launcher.bootstrap import DEVELOPMENT, ROOT, RUNTIME, ensure
from launcher.datafolder import DataFolder
from launcher.installation import Installation
from launcher.new import new
from launcher.rack import rack
from launcher.say import Stop, write
from launcher.supervisor import Supervisor
from launcher.triage import triage
from launcher.up import data_folder, demo, up

HELP = """\
./run                   start Slotlight with its demo fleet; Ctrl-C stops it
    --port N            listen on another port than 8000
    --host ADDRESS      listen on another address than 127.0.0.1 (needs --no-demo)
    --no-demo           without the demo fleet and its sign-ins
    --data DIR          keep everything in DIR instead of ./var (or SLOTLIGHT_DATA)
./run demo              the same; it takes the same options, and one more
    --scenario NAME     add a node that needs the runbook NAME; `./run demo --help` lists them
./run rack NODE         what a person before the rack of a demo node sees
    pull BAY            take the disk out of a bay and lay it on the shelf
    insert BAY SERIAL   put a disk from the shelf into a bay
    unplug-cables       unplug its SAS cables; power-on switches on a node that has no power
./run test [ARGS]       all tests, on servers of their own; ARGS go to pytest
    --quick             those of the lower floors that fail first, in less than a minute
./run bench [NAMES]     measurements, as tables
./run frozen            compare guards, situations, commands and signed bytes with what was kept of them; --help says more
./run new KIND NAME     what a new runbook, situation, collector or operation needs, and what to fill in
./run house             figures of the code base: statements, lengths of functions, import cycles
./run agent [--deb]     build dist/slotlight-agent.pyz, the agent for storage nodes, or its Debian package
./run cli ARGS          the portal on the command line; `./run cli --help` says what it can do
./run triage FILE...     what pasted outputs of a node say is wrong; - reads what is piped in
./run lab build|up      a real storage node in QEMU: Debian, OpenZFS and SAS disks (root; Debian's qemu-system-x86)
    shell|down NAME     a shell on it; its end. `./run lab --help` has the rest: pull, insert, slow, lit
    test [ARGS]         the tests that walk runbooks on it
./run manage COMMAND    a management command, on the running servers or on ones started for it
./run help              this text

DATABASE_URL and REDIS_URL select servers that run elsewhere; migrations then connect as DATABASE_OWNER_URL.
"""


class Command(NamedTuple):
    call: Callable[[list[str]], int]
    lock: str  # which lock file must be installed; "" when none


def test(args: list[str]) -> int:
    """All tests on all cores, each core with servers of its own; a chosen few start faster alone, and one given Valkey is for one at a time.

    A file stays on one core: the walks in the browser go on from test to test, so half of one elsewhere would begin in the middle.
    `tests/order.py` says which files come first.
    """
    os.chdir(ROOT)
    if args[:1] == ["--quick"]:
        words = [*quick.ARGUMENTS, *args[1:]]
    else:
        words = [*([] if args or "REDIS_URL" in os.environ else ["-n", "auto", "--dist", "loadfile"]), *args]
    os.execve(sys.executable, [sys.executable, "-m", "pytest", *words], _with_bytecode(os.environ))


def _with_bytecode(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the tests. Where Python may keep no bytecode beside the sources, it is kept in `var/pycache`.

    Without any, each core and each process that a test starts compiles every file anew: 13 of the 32 seconds that collecting takes.
    """
    if not environment.get("PYTHONDONTWRITEBYTECODE"):
        return dict(environment)
    kept = {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPYCACHEPREFIX": str(ROOT / "var" / "pycache"), **kept}


def bench(args: list[str]) -> int:
    """Run every `bench/bench_NAME.py` in a process of its own; each prints its table."""
    found = {path.stem.removeprefix("bench_"): path for path in sorted(ROOT.glob("bench/bench_*.py"))}
    unknown = [name for name in args if name not in found]
    if unknown:
        write(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(found) or 'none'}.")
        return 2
    failed = []
    for name in args or found:
        write(f"\n{name}")
        if subprocess.run([sys.executable, "-m", f"bench.bench_{name}"], cwd=ROOT, check=False).returncode:
            failed.append(name)
    if failed:
        write(f"\nNot measured: {', '.join(failed)}. Their own words are above.")
    return 1 if failed else 0


def frozen(args: list[str]) -> int:
    """Compare what the code does with what was kept in tests/frozen/kept."""
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-m", "tests.frozen", *args])


def house(args: list[str]) -> int:
    """Print the figures of the code base."""
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-m", "tests.house", *args])


def agent(args: list[str]) -> int:
    """The one file, or with --deb the package around it."""
    from agents.packaging import deb, zipapp

    if args not in ([], ["--deb"]):
        raise Stop(f"./run agent takes --deb or nothing, not {' '.join(args)}.")
    target, digest = (deb if args else zipapp).build(ROOT)
    write(f"{target.relative_to(ROOT)}  {target.stat().st_size} bytes  sha256 {digest}")
    return 0


def cli(args: list[str]) -> int:
    from cli.commands import main

    return main(args)


def lab(args: list[str]) -> int:
    """A real storage node; its tests need what all tests need."""
    from lab import commands

    if args[:1] == ["test"]:
        ensure(DEVELOPMENT)
        return int(commands.test(args[1:]))
    return int(commands.main(args))


def manage(args: list[str]) -> int:
    folder = DataFolder(data_folder())
    if folder.is_running():
        return _manage(Installation(folder, Path(folder.state()["sockets"])), args)
    folder.open()
    return asyncio.run(_manage_alone(Installation(folder), args))


async def _manage_alone(site: Installation, args: list[str]) -> int:
    supervisor = Supervisor()
    try:
        made = await asyncio.to_thread(site.make_cluster)
        await site.start_servers(supervisor)
        if made:
            await asyncio.to_thread(site.make_roles)
        return await asyncio.to_thread(_manage, site, args)
    finally:
        await supervisor.stop()


def _manage(site: Installation, args: list[str]) -> int:
    environment = site.owner_environment()
    if site.postgres:  # psql, for dbshell
        environment["PATH"] = f"{site.postgres.bin}{os.pathsep}{environment.get('PATH', '')}"
    return subprocess.run([sys.executable, str(ROOT / "manage.py"), *args], env=environment, check=False).returncode


COMMANDS = {
    "up": Command(up, RUNTIME),
    "demo": Command(demo, RUNTIME),
    "rack": Command(rack, ""),
    "test": Command(test, DEVELOPMENT),
    "bench": Command(bench, DEVELOPMENT),
    "frozen": Command(frozen, DEVELOPMENT),
    "new": Command(new, ""),
    "house": Command(house, DEVELOPMENT),
    "agent": Command(agent, ""),
    "cli": Command(cli, ""),
    "triage": Command(triage, ""),
    "lab": Command(lab, ""),
    "manage": Command(manage, RUNTIME),
}
