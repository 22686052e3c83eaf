"""A node in the foreground, with /etc, /var, /run and /dev of its own and no systemd: with this machine's programs, or with those of a minimal
system alone (`tests.compose.minimal`).
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from lab.portal import NAME
from launcher.children import popen_options
from tests.compose.stack import OURSELVES

DEVICES = ("null", "zero", "full", "random", "urandom")
FOLDERS = ("dev", "etc", "proc", "root", "run", "sys", "tmp", "usr", "var/lib", "usr-local-sbin", "hands", "few")
TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
FEW = ("python3", "openssl", "sha256sum", "sh")  # what the line for bare systems may use
MOUNTED = """
set -e
root=$1; shift
if [ -z "$BASE" ]; then
  mount --rbind /usr "$root/usr"
  mount --bind "$root/usr-local-sbin" "$root/usr/local/sbin"
  for name in TOP; do [ -L "/$name" ] || [ ! -d "/$name" ] || mount --rbind "/$name" "$root/$name"; done
fi
mount --rbind /proc "$root/proc"
for name in DEVICES; do mount --bind "/dev/$name" "$root/dev/$name"; done
exec chroot "$root" /usr/bin/env -i --chdir=/root "$@"
""".replace("TOP", " ".join(TOP)).replace("DEVICES", " ".join(DEVICES))
PATH = "/hands:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


def why_none() -> str:
    """Why no such node can be made here, or ""."""
    missing = [program for program in ("unshare", "chroot", "curl", "openssl") if not shutil.which(program)]
    if missing:
        return f"a node in the foreground needs {' and '.join(missing)}"
    if not Path("/usr/bin/python3").exists():
        return "a node in the foreground needs a Python of the system's own, /usr/bin/python3"
    tried = subprocess.run([*_apart(), "mount", "--bind", "/usr", "/usr"], capture_output=True, text=True, check=False)
    return f"this machine allows no mounts of its own: {tried.stderr.strip()}" if tried.returncode else ""


def _apart() -> list[str]:
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "--propagation", "private"]


class Node:
    def __init__(self, folder: Path, certificate: Path, system: Path | None = None) -> None:
        """`system` is the folder of a minimal one, which is copied."""
        self.root, self._base = folder / "root", str(system or "")
        if system:
            subprocess.run(["cp", "-a", f"{system}/.", str(self.root)], check=True)
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in () if system else TOP:
            self._top(name)
        for name in DEVICES:
            if not (self.root / "dev" / name).exists():
                (self.root / "dev" / name).touch()
        self._furnish(certificate)

    def _top(self, name: str) -> None:
        here, there = Path("/", name), self.root / name
        if here.is_symlink():
            there.symlink_to(os.readlink(here))
        elif here.is_dir():
            there.mkdir()

    def _furnish(self, certificate: Path) -> None:
        etc = self.root / "etc"
        (etc / "hosts").write_text(f"127.0.0.1 localhost {NAME}\n")
        (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (etc / "nsswitch.conf").write_text("hosts: files\n")
        if not self._base and Path("/etc/ld.so.cache").exists():
            shutil.copy("/etc/ld.so.cache", etc)
        # Whoever is root here needs no sudo, and it could not work in a user namespace.
        hand = self.root / "hands" / "sudo"
        hand.write_text('#!/bin/sh\nexec "$@"\n')
        hand.chmod(0o755)
        for name in FEW:
            (self.root / "few" / name).symlink_to(f"/usr/bin/{name}")
        shutil.copy(certificate, self.root / "root" / "ca.pem")

    def _argv(self, path: str, *words: str) -> list[str]:
        return [*_apart(), "sh", "-c", MOUNTED, "sh", str(self.root), f"PATH={path}", "HOME=/root", *words]

    def types(self, line: str, path: str = PATH, seconds: float = 180) -> tuple[int, str]:
        """A line as a person types it: (exit code, what was printed)."""
        argv = self._argv(path, "/bin/sh", "-c", line)
        environment = {"PATH": os.environ["PATH"], "BASE": self._base}
        done = subprocess.run(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False
        )
        return done.returncode, done.stdout

    def starts(self, *words: str) -> subprocess.Popen:
        environment = {"PATH": os.environ["PATH"], "BASE": self._base}
        with (self.root / "said").open("wb") as log:
            options = popen_options(OURSELVES, signal.SIGTERM)
            return subprocess.Popen(self._argv(PATH, *words), env=environment, stdout=log, stderr=log, **options)

    @property
    def output(self) -> str:
        return (self.root / "said").read_text()
