"""Who this agent is: one file, made by `enrol`, readable by its owner only."""

from __future__ import annotations

import base64
import json
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from agents import VERSION
from agents.host import Host
from agents.transport import connector, enrol
from agents.wire import KEY_BYTES, fingerprint

FILE = "identity.json"


class NoIdentity(Exception):
    """This folder does not make an agent. The message says what to do."""


@dataclass(frozen=True)
class Identity:
    portal: str
    node: str
    key: bytes
    ca_file: str = ""

    @property
    def key_id(self) -> str:
        return fingerprint(self.key)


def load(folder: str) -> Identity:
    path = Path(folder) / FILE
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise NoIdentity(f"{path} can be read by others, so its key may be known. Remove the folder and enrol again.")
        value = json.loads(path.read_text())
        identity = Identity(value["portal"], value["node"], base64.b64decode(value["key"]), value["ca_file"])
    except FileNotFoundError:
        raise NoIdentity(f"{folder} holds no identity. Run `enrol` with a token from the portal first.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoIdentity(f"{path} cannot be read: {error}.") from error
    if len(identity.key) != KEY_BYTES:
        raise NoIdentity(f"{path} holds a damaged key. Remove the folder and enrol again.")
    return identity


def enrol_node(host: Host, folder: str, portal: str, node: str, token: str, ca_file: str = "") -> Identity:
    """Make a key, hand it to the portal with `token`, and keep it in `folder`.

    The key is on the disk before the portal learns it; an answer lost on the way costs a new token, not a mystery.
    Raises NoIdentity, ValueError (a URL that must not be used) and PortalDown.
    """
    connector(portal, ca_file)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    path = Path(folder) / FILE
    if path.exists():
        raise NoIdentity(f"{folder} already holds the identity of {load(folder).node}. Enrol into an empty folder.")
    identity = Identity(portal, node, os.urandom(KEY_BYTES), ca_file)
    _write(path.with_suffix(".new"), identity)
    request = {"token": token, "node": node, "key": _text(identity.key), "hostname": hostname(host), "version": VERSION}
    enrol(portal, identity.key, request, ca_file)
    os.replace(path.with_suffix(".new"), path)
    return identity


def move_to(folder: str, portal: str, ca_file: str = "") -> None:
    """The portal answers at another address, or with another certificate, from now on; the key stays."""
    identity = load(folder)
    connector(portal, ca_file)
    if (identity.portal, identity.ca_file) != (portal, ca_file):
        path = Path(folder) / FILE
        _write(path.with_suffix(".new"), replace(identity, portal=portal, ca_file=ca_file))
        os.replace(path.with_suffix(".new"), path)


def hostname(host: Host) -> str:
    return _proc(host, "/proc/sys/kernel/hostname")


def boot_id(host: Host) -> str:
    return _proc(host, "/proc/sys/kernel/random/boot_id")


def _proc(host: Host, path: str) -> str:
    try:
        return host.read(path).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _write(path: Path, identity: Identity) -> None:
    value = {"portal": identity.portal, "node": identity.node, "key": _text(identity.key), "ca_file": identity.ca_file}
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")
