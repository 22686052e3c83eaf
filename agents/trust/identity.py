"""This agent's identity and the keys it trusts: one file, made by `enrol`, readable by its owner only.

The portal's keys come with the answer to `enrol`, which only who received this agent's new key can have signed, and are pinned. Others
are taken only from an answer in which the pinned order key signs them.
"""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agents import VERSION
from agents.host.host import Host
from agents.orders.journal import FILE as JOURNAL
from agents.orders.journal import Journal
from agents.portal.transport import PortalRefused, connector, enrol
from agents.portal.wire import KEY_BYTES, fingerprint, read_canonical
from agents.trust import order_signature
from agents.trust.transparency_log import BadNote, read_log_key

FILE = "identity.json"
PINNED = ("portal_key", "log_key", "origin")  # what the portal hands over at enrolment


class BadKeys(ValueError):
    """What the portal hands over as its keys is not to be pinned. The message says why."""


class NoIdentity(Exception):
    """This folder does not make an agent. The message says what to do."""


@dataclass(frozen=True)
class Identity:
    portal: str
    node: str
    key: bytes
    ca_file: str = ""
    portal_key: str = ""  # PEM: signs orders
    log_key: str = ""  # a C2SP verifier key: signs the ledger's checkpoints
    origin: str = ""  # what that ledger is called
    journal: str = ""  # the generation of the journal this agent enrolled with

    @property
    def can_check(self) -> bool:
        """Whether it holds the portal's keys; one that enrolled before there were any does not."""
        return bool(self.portal_key and self.log_key)

    @property
    def portal_key_id(self) -> str:
        return order_signature.key_id(self.portal_key) if self.portal_key else ""

    @property
    def key_id(self) -> str:
        return fingerprint(self.key)


def load(folder: str) -> Identity:
    """The identity that `folder` holds. Raises NoIdentity."""
    return _read(Path(folder) / FILE)


def _read(path: Path) -> Identity:
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise NoIdentity(f"{path} can be read by others, so its key may be known. Remove the folder and enrol again.")
        value = json.loads(path.read_text())
        more = {name: str(value.get(name, "")) for name in (*PINNED, "journal")}
        identity = Identity(value["portal"], value["node"], base64.b64decode(value["key"]), value["ca_file"], **more)
    except FileNotFoundError:
        raise NoIdentity(f"{path.parent} holds no identity. Run `enrol` with a token from the portal first.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoIdentity(f"{path} cannot be read: {error}.") from error
    if len(identity.key) != KEY_BYTES:
        raise NoIdentity(f"{path} holds a damaged key. Remove the folder and enrol again.")
    return identity


def enrol_node(
    host: Host, folder: str, portal: str, node: str, token: str, ca_file: str = "", again: bool = False, relay: str = "",
) -> Identity:  # fmt: skip
    """Make a key, hand it to the portal with `token`, and keep it in `folder` with the keys the portal answers with.

    The key is on the disk before the portal gets it, and stays there while no answer comes: asked again with the same token, the portal
    answers the same key again. Where it refuses that one, a new key is offered with the same token: it may have been revoked meanwhile.
    `again` replaces an identity once the portal has taken the new key; the journal stays, because what was done does not change with
    the key.
    Raises NoIdentity, ValueError (a URL that must not be used, keys that are none), PortalDown, and PortalRefused when the portal says no.
    """
    connector(portal, ca_file)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    path = Path(folder) / FILE
    if path.exists() and not again:
        raise NoIdentity(f"{folder} already holds the identity of {load(folder).node}. Enrol into an empty folder, or add --again.")
    new = path.with_suffix(".new")
    made = Identity(portal, node, os.urandom(KEY_BYTES), ca_file, journal=_generation(folder, load(folder) if path.exists() else None))
    kept = _key_without_answer(new, portal, node)
    for identity in (*([replace(made, key=kept)] if kept else ()), made):
        _write(new, identity)
        request = {"token": token, "node": node, "key": _text(identity.key), "hostname": hostname(host), "version": VERSION}
        try:
            identity = pinned(identity, enrol(portal, identity.key, request, ca_file, relay))
        except PortalRefused as no:
            refused = no
            continue
        _write(new, identity)
        os.replace(new, path)
        return identity
    if kept:
        _write(new, replace(made, key=kept))  # it is the token that is wrong: with the right one the portal still knows this key
    else:
        new.unlink()
    raise refused


def _key_without_answer(tried: Path, portal: str, node: str) -> bytes:
    """The key of a try that the portal may have taken and whose answer did not come; empty where there was none for this portal and node."""
    try:
        identity = _read(tried)
    except NoIdentity:
        return b""
    return identity.key if (identity.portal, identity.node) == (portal, node) else b""


def _generation(folder: str, before: Identity | None) -> str:
    """The generation of the journal this identity goes with. It is made here, so that one that is missing later is missed."""
    if before is not None:
        return before.journal
    journal = Journal(os.path.join(folder, JOURNAL), anyway=True)
    try:
        return "" if journal.broken else journal.height()[0]
    finally:
        journal.close()


def pinned(identity: Identity, answer: Mapping[str, Any]) -> Identity:
    """With the portal's keys from its answer, all or none. A portal that sends none signs no orders: this node is then only observed.
    Raises BadKeys for keys that are none."""
    keys = {name: answer.get(name, "") for name in PINNED}
    if not any(keys.values()):
        return identity
    try:
        order_signature.key_id(str(keys["portal_key"]))
        name, _, _ = read_log_key(str(keys["log_key"]))
    except (order_signature.BadKey, BadNote) as error:
        raise BadKeys(f"The portal's keys cannot be used: {error}") from error
    if keys["origin"] != name:
        raise BadKeys(f"The portal's ledger is called {keys['origin']!r} and its key is of {name!r}.")
    return replace(identity, **keys)


def rotated(host: Host, identity: Identity, answer: object) -> Identity:
    """With the keys in {"keys": canonical text, "signature": base64} of a portal's answer, signed by the key pinned so far; the same
    identity when they are pinned already. Raises BadKeys when they must not be taken."""
    text, signature = (answer.get(name) for name in ("keys", "signature")) if isinstance(answer, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(signature, str) or not identity.can_check:
        raise BadKeys("The portal announces new keys in a way that cannot be read.")
    try:
        keys = read_canonical(text)
    except ValueError as error:
        raise BadKeys(f"The portal announces new keys in a way that cannot be read: {error}.") from error
    if not isinstance(keys, dict) or keys.get("purpose") != "next_keys":
        raise BadKeys("The portal announces new keys without this purpose.")
    if all(keys.get(name) == getattr(identity, name) for name in PINNED):
        return identity
    wrong = order_signature.against(host, identity.portal_key, signature, text.encode("utf-8"))
    if wrong:
        raise BadKeys(f"The portal announces new keys that the pinned key did not sign. {wrong}")
    return pinned(identity, keys)


def keep(folder: str, identity: Identity) -> None:
    """Replace the file whole."""
    path = Path(folder) / FILE
    _write(path.with_suffix(".new"), identity)
    os.replace(path.with_suffix(".new"), path)


def move_to(folder: str, portal: str, ca_file: str = "") -> None:
    """The portal answers at another address, or with another certificate, from now on; the key stays."""
    identity = load(folder)
    connector(portal, ca_file)
    if (identity.portal, identity.ca_file) != (portal, ca_file):
        keep(folder, replace(identity, portal=portal, ca_file=ca_file))


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
    value = {**asdict(identity), "key": _text(identity.key)}
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")
