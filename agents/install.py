"""`slotlight-agent install`: puts the one file, its unit, its policy and its bell in place, enrols, and starts it.

Doing it again is an upgrade: what is there stays, except the program, the unit and the hook, which are replaced whole.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from agents import VERSION, bell, places
from agents.host import Host
from agents.identity import FILE, enrol_node, load, move_to

SYSTEMCTL_SECONDS = 60


class CannotInstall(Exception):
    """Nothing was started. The message says what to do."""


def install(host: Host, portal: str, node: str, token: str, ca_file: str, say: Callable[[str], None], root: str = "/") -> None:
    """Raises CannotInstall, NoIdentity, PortalDown, ValueError, PermissionError. `root` is where "/" is, for tests."""
    if not zipfile.is_zipfile(sys.argv[0]):
        raise CannotInstall("This is not the one-file agent. Fetch slotlight-agent.pyz from the portal and run its install.")
    _write(root, places.PROGRAM, Path(sys.argv[0]).read_bytes(), 0o755)
    _write(root, places.UNIT, places.unit(places.PROGRAM).encode(), 0o644)
    _write(root, places.RELAY_UNIT, places.relay_unit(places.PROGRAM).encode(), 0o644)
    if not os.path.exists(_at(root, places.POLICY)):
        _write(root, places.POLICY, places.OBSERVE.encode(), 0o644)
    new_hook = _hang_the_bell(root)
    say(f"{places.PROGRAM} is version {VERSION}. {places.POLICY} says what the portal may do here.")
    _enrol(host, portal, node, token, ca_file, say, root)
    _start(host, say)
    if new_hook:
        _wake_zed(host, say)


def _hang_the_bell(root: str) -> bool:
    """Whether ZED has a hook now that it did not have."""
    hook, path = bell.hook(places.FOLDER).encode(), Path(_at(root, places.ZED_HOOK))
    if not os.path.isdir(path.parent) or (path.exists() and path.read_bytes() == hook):
        return False
    _write(root, places.ZED_HOOK, hook, 0o755)
    return True


def _wake_zed(host: Host, say: Callable[[str], None]) -> None:
    """ZED looks into its folder when it starts, and goes on with the event it had come to. Where it does not run nothing happens."""
    if host.list("/run/systemd/system"):
        ran = host.run(("systemctl", "try-restart", places.ZED_UNIT_NAME), SYSTEMCTL_SECONDS)
        if ran.exit_code != 0:
            say(f"ZED rings the agent only after its next start: {ran.stderr.decode('utf-8', 'replace').strip() or ran.why}")


def _enrol(host: Host, portal: str, node: str, token: str, ca_file: str, say: Callable[[str], None], root: str) -> None:
    folder = _at(root, places.FOLDER)
    if os.path.exists(os.path.join(folder, FILE)):
        identity = load(folder)
        say(f"This node is already enrolled as {identity.node}, with the key {identity.key_id}. The token was not used.")
        return
    if not (portal and node and token):
        raise CannotInstall("This node is not enrolled yet: --portal, --node and --token are needed. The portal's Add node page has them.")
    identity = enrol_node(host, folder, portal, node, token, ca_file)
    _write(root, places.CONFIG, json.dumps({"portal": portal, "ca": ca_file}).encode() + b"\n", 0o644)
    say(f"{identity.node} is enrolled. Its key is {identity.key_id}; the portal must show the same.")


def _start(host: Host, say: Callable[[str], None]) -> None:
    if not host.list("/run/systemd/system"):
        say(f"systemd does not run here. Start `{places.PROGRAM} run` with whatever does; its relay is for systemd.")
        return
    units = (places.RELAY_UNIT_NAME, places.UNIT_NAME)
    for argv in (("systemctl", "daemon-reload"), ("systemctl", "enable", *units), ("systemctl", "restart", *units)):
        ran = host.run(argv, SYSTEMCTL_SECONDS)
        if ran.exit_code != 0:
            raise CannotInstall(f"{' '.join(argv)} failed: {ran.stderr.decode('utf-8', 'replace').strip() or ran.why}")
    say(f"It runs. `{places.PROGRAM} status` says how it is, `{places.PROGRAM} doctor` what this node lacks.")


def configured(folder: str, path: str = places.CONFIG) -> None:
    """Let the file in /etc say where the portal is; the key stays what it is. Raises ValueError for a file that says something else."""
    try:
        said = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}. It may hold portal and ca, or be removed.") from error
    if not isinstance(said, dict) or set(said) - {"portal", "ca"} or not all(isinstance(value, str) for value in said.values()):
        raise ValueError(f'{path} may hold "portal" and "ca" as strings, and nothing else.')
    move_to(folder, said.get("portal") or load(folder).portal, said.get("ca", ""))


def _at(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))


def _write(root: str, path: str, data: bytes, mode: int) -> None:
    """Replace a file whole: whoever reads or runs it has the old one or the new one."""
    target = _at(root, path)
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    handle = os.open(f"{target}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(f"{target}.new", mode)
    os.replace(f"{target}.new", target)
