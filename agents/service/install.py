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

from agents import VERSION
from agents.host import paths
from agents.host.host import Host
from agents.portal import reach
from agents.service import zed_hook
from agents.trust.identity import FILE, enrol_node, load, move_to

SYSTEMCTL_SECONDS = 60


class CannotInstall(Exception):
    """Nothing was started. The message says what to do."""


def install(host: Host, portal: str, node: str, token: str, ca_file: str, write: Callable[[str], None], root: str = "/") -> None:
    """Raises CannotInstall, NoIdentity, PortalDown, ValueError, PermissionError. `root` is where "/" is, for tests."""
    packaged = os.path.realpath(sys.argv[0]) == os.path.realpath(_at(root, paths.DEB_PROGRAM))  # and everything is in its place
    program = paths.DEB_PROGRAM if packaged else paths.PROGRAM
    new_hook = False if packaged else _put(root)
    write(f"{program} is version {VERSION}. {paths.POLICY} states what the portal may do here.")
    systemd = bool(host.list("/run/systemd/system"))
    if systemd:
        _systemctl(host, ("daemon-reload",), ("enable", paths.RELAY_UNIT_NAME, paths.UNIT_NAME))
    is_new = _enrol(host, portal, node, token, ca_file, write, root, systemd)
    began = host.now()
    if not systemd:
        write(f"systemd does not run here. Start `{program} run` with whatever does; its relay is for systemd.")
        return
    _systemctl(host, ("restart", paths.RELAY_UNIT_NAME, paths.UNIT_NAME))
    if new_hook:
        _wake_zed(host, write)
    if is_new and (why := reach.first_report(_at(root, paths.FOLDER), began, host.now)):
        raise CannotInstall(f"The node is enrolled, and no report has arrived at the portal: {why}. `{program} doctor` shows what to do.")
    write("Enrolled, and the first report arrived." if is_new else "It runs.")
    write(f"`{program} status` says how it is, `{program} doctor` what this node lacks.")


def _put(root: str) -> bool:
    """The program and the files around it; whether ZED has a hook now that it did not have."""
    if not zipfile.is_zipfile(sys.argv[0]):
        raise CannotInstall("This is not the one-file agent. Fetch slotlight-agent.pyz from the portal and run its install.")
    _write(root, paths.PROGRAM, Path(sys.argv[0]).read_bytes(), 0o755)
    _write(root, paths.UNIT, paths.unit(paths.PROGRAM).encode(), 0o644)
    _write(root, paths.RELAY_UNIT, paths.relay_unit(paths.PROGRAM).encode(), 0o644)
    if not os.path.exists(_at(root, paths.POLICY)):
        _write(root, paths.POLICY, paths.OBSERVE.encode(), 0o644)
    return _hang_the_bell(root)


def _hang_the_bell(root: str) -> bool:
    """Whether ZED has a hook now that it did not have."""
    hook, path = zed_hook.hook(paths.FOLDER).encode(), Path(_at(root, paths.ZED_HOOK))
    if not os.path.isdir(path.parent) or (path.exists() and path.read_bytes() == hook):
        return False
    _write(root, paths.ZED_HOOK, hook, 0o755)
    return True


def _wake_zed(host: Host, write: Callable[[str], None]) -> None:
    """ZED looks into its folder when it starts, and goes on with the event it had come to. Where it does not run nothing happens."""
    ran = host.run(("systemctl", "try-restart", paths.ZED_UNIT_NAME), SYSTEMCTL_SECONDS)
    if ran.exit_code != 0:
        write(f"ZED rings the agent only after its next start: {ran.stderr.decode('utf-8', 'replace').strip() or ran.why}")


def _enrol(
    host: Host, portal: str, node: str, token: str, ca_file: str, write: Callable[[str], None], root: str, systemd: bool
) -> bool:  # fmt: skip
    """Whether it enrolled just now. The token is spent only when the portal answers the way the agent will ask."""
    folder, ca = _at(root, paths.FOLDER), reach.keep_ca(ca_file, root)
    if os.path.exists(os.path.join(folder, FILE)):
        identity = load(folder)
        if ca:
            move_to(folder, portal or identity.portal, ca)
            configure(root, portal or identity.portal, ca)
        write(f"This node is already enrolled as {identity.node}, with the key {identity.key_id}. The token was not used.")
        return False
    if not (portal and node and token):
        raise CannotInstall("This node is not enrolled yet: --portal, --node and --token are needed. The portal's Add node page has them.")
    if systemd:
        _systemctl(host, ("restart", paths.RELAY_UNIT_NAME))
    relay = reach.relay(root, reach.RELAY_SECONDS) if systemd else ""
    if systemd and not relay:
        raise CannotInstall(f"The relay does not listen. `journalctl -u {paths.RELAY_UNIT_NAME}` says why. The token was not used.")
    try:
        reach.probe(portal, ca, relay)
    except reach.Unreachable as error:
        do = "Check name, port and firewall; --ca FILE names the certificate of your own authority."
        raise CannotInstall(f"{error} {do} The token was not used.") from error
    identity = enrol_node(host, folder, portal, node, token, ca, relay=relay)
    configure(root, portal, ca)
    write(f"{identity.node} is enrolled. Its key is {identity.key_id}; the portal must show the same.")
    return True


def configure(root: str, portal: str, ca: str) -> None:
    _write(root, paths.CONFIG, json.dumps({"portal": portal, "ca": ca}).encode() + b"\n", 0o644)


def _systemctl(host: Host, *asked: tuple[str, ...]) -> None:
    for words in asked:
        ran = host.run(("systemctl", *words), SYSTEMCTL_SECONDS)
        if ran.exit_code != 0:
            raise CannotInstall(f"systemctl {' '.join(words)} failed: {ran.stderr.decode('utf-8', 'replace').strip() or ran.why}")


def configured(folder: str, path: str = paths.CONFIG) -> None:
    """Let the file in /etc say where the portal is; the key stays what it is. Raises ValueError for a file that says something else."""
    try:
        document = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}. It may hold portal and ca, or be removed.") from error
    if not isinstance(document, dict) or set(document) - {"portal", "ca"} or not all(isinstance(value, str) for value in document.values()):
        raise ValueError(f'{path} may hold "portal" and "ca" as strings, and nothing else.')
    move_to(folder, document.get("portal") or load(folder).portal, document.get("ca", ""))


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
