"""Which portal, and with which token: from the environment, else from one file that only its owner may read."""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cli.problems import Trouble

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Config(NamedTuple):
    url: str
    token: str
    source: str


def path(environment: Mapping[str, str]) -> Path:
    if setting := environment.get("SLOTLIGHT_CONFIG"):
        return Path(setting)
    home = environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".config"
    return Path(home) / "slotlight" / "cli.toml"


def load(environment: Mapping[str, str]) -> Config:
    """Raises Trouble when it is not said, or is said where others can read it."""
    file = path(environment)
    kept = _read(file) if file.exists() else {}
    url, token = (environment.get(f"SLOTLIGHT_{name.upper()}") or str(kept.get(name, "")) for name in ("url", "token"))
    if not url or not token:
        missing = "SLOTLIGHT_URL" if not url else "SLOTLIGHT_TOKEN"
        raise Trouble(
            f"Which portal, and with which token, is not said: {missing} is not set and {file} does not contain it.",
            "Run `slotlight login URL`.",
            2,
        )
    return Config(checked(url), token.strip(), str(file) if kept else "the environment")


def checked(url: str) -> str:
    """The address without its last slash. A token does not go over a network unencrypted."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Trouble(f"{url} is no address of a portal.", "Give one such as https://slotlight.example.org.", 2)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise Trouble(f"{url} is not HTTPS, so everybody on the way could read the token.", "Use the HTTPS address of the portal.", 2)
    return url.rstrip("/")


def _read(file: Path) -> dict[str, Any]:
    seen = file.stat()
    if seen.st_uid != os.geteuid() or stat.S_IMODE(seen.st_mode) & 0o077:
        raise Trouble(
            f"{file} can be read by others, and it holds a token.",
            f"Run `chmod 600 {file}`, and revoke the token if others may have read it.",
            2,
        )
    try:
        return tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise Trouble(f"{file} cannot be read: {error}.", "Mend it, or write it anew with `slotlight login URL`.", 2) from None


def save(environment: Mapping[str, str], url: str, token: str) -> Path:
    """Written whole and for its owner only, from its first byte on."""
    file = path(environment)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    making = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(f'url = "{url}"\ntoken = "{token}"\n')
    making.replace(file)
    return file
