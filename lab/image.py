"""Makes a node's disk image from Debian's packages, once per recipe.

Everything that runs inside the tree runs in its own mount and process namespace, so a build that is interrupted leaves no
mount and no daemon behind. The finished image appears under its name in one rename.
"""

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab import places
from lab.recipe import COMPILE, FILES, FINISH, KERNEL, MKFS, SIZE, TO_COMPILE, ZFS, Recipe
from launcher.say import Stop, write

TOOLS = {
    "debootstrap": "debootstrap",
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mkfs.ext4": "e2fsprogs",
    "ssh": "openssh-client",
    "unshare": "util-linux",
}
ISCSI_DRIVERS = ("/usr/lib/x86_64-linux-gnu/qemu/block-iscsi.so", "/usr/lib/qemu/block-iscsi.so")
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
# A mirror whose index is older than its own "valid until" still installs; every package is checked by its signature all the same.
APT = ("-y", "-q", "--no-install-recommends", "-o", "Acquire::Check-Valid-Until=false")


class Image(NamedTuple):
    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "root.img"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd.img"

    @property
    def key(self) -> Path:
        return self.folder / "id_lab"

    @property
    def zfs_version(self) -> str:
        return (self.folder / "zfs-version").read_text().strip()


def lacking() -> str:
    """Why no machine can run here, in one sentence; "" when one can."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if not any(Path(path).exists() for path in ISCSI_DRIVERS):
        missing.append("qemu-block-extra")
    if missing:
        return f"The lab needs Debian's {', '.join(missing)}: apt install {' '.join(missing)}."
    if os.geteuid():
        return "The lab makes its image as root: start it as root, or with sudo."
    return ""


def find(series: str) -> Image | None:
    """The image of today's recipe, when somebody has built it."""
    image = Image(places.images() / Recipe(series).name)
    return image if image.disk.exists() else None


def build(series: str, source: Path | None = None) -> Image:
    """The image of today's recipe, made unless it is there. `source` is the archive of OpenZFS (.tar.gz) that a series without packages needs. Raises Stop."""
    if why := lacking():
        raise Stop(why)
    if found := find(series):  # one that is there waits for no build of another
        return found
    places.images().mkdir(parents=True, exist_ok=True)
    with _alone():
        return find(series) or _make(Recipe(series), source)


@contextmanager
def _alone() -> Iterator[None]:
    """Two builds at once would fetch and compile the same things twice."""
    with (places.images() / ".lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield


def _make(recipe: Recipe, source: Path | None) -> Image:
    """A tree that was installed whole is kept until its image is: the compiling is not done twice for a failure after it."""
    if recipe.tag and source is None:
        raise Stop(f"Debian has no OpenZFS {recipe.series}: hand over the source of {recipe.tag} (.tar.gz) with --source.")
    began = time.monotonic()
    work, target = places.images() / f"{recipe.name}.making", places.images() / recipe.name
    tree, folder, installed = work / "tree", work / "image", work / "installed"
    if not installed.exists():
        shutil.rmtree(work, ignore_errors=True)
        tree.mkdir(mode=0o755, parents=True)
        _install(recipe, tree, work / "build.log", source)
        installed.write_text(_version(recipe, tree) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _finish(tree, work / "build.log")
    _keys(tree, folder)
    _pack(tree, folder)
    shutil.copyfile(installed, folder / "zfs-version")
    folder.rename(target)
    shutil.rmtree(work)
    made = Image(target)
    write(f"{target}: OpenZFS {made.zfs_version}, made in {time.monotonic() - began:.0f} s.")
    return made


def _install(recipe: Recipe, tree: Path, log: Path, source: Path | None) -> None:
    origin = mirror()
    write(f"Debian {recipe.release} from {origin}.")
    options = ("--variant=minbase", "--components=main,contrib", f"--include={','.join(recipe.base)}")
    _call(["debootstrap", *options, recipe.release, str(tree), origin], log)
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    no_daemons = tree / "usr/sbin/policy-rc.d"  # Debian's own way to install a service without starting it
    no_daemons.write_text("#!/bin/sh\nexit 101\n")
    no_daemons.chmod(0o755)
    if recipe.suite != recipe.release:
        (tree / "etc/apt/sources.list.d/zfs.list").write_text(f"deb {origin} {recipe.suite} main contrib\n")
    write("The kernel, then OpenZFS, which is compiled for it: some minutes.")
    _inside(tree, log, "apt-get", "update", *APT[1:2], *APT[3:])
    _inside(tree, log, "apt-get", "install", *APT, *KERNEL)
    if source is None:
        _inside(tree, log, "apt-get", "install", *APT, "-t", recipe.suite, *ZFS)
    else:
        _compile(tree, log, source)
    no_daemons.unlink()


def _compile(tree: Path, log: Path, source: Path) -> None:
    place = tree / "usr/src/zfs"
    place.mkdir()
    _call(["tar", "--extract", f"--file={source}", f"--directory={place}", "--strip-components=1", "--no-same-owner"], log)
    _inside(tree, log, "apt-get", "install", *APT, *TO_COMPILE)
    _inside(tree, log, "env", f"KERNEL={_kernel(tree)}", "sh", "-c", COMPILE)


def _version(recipe: Recipe, tree: Path) -> str:
    """Which module was really built, for the kernel that will really boot."""
    ran = subprocess.run(
        ["chroot", str(tree), "modinfo", "-F", "version", "-k", _kernel(tree), "zfs"], capture_output=True, text=True, check=False
    )
    version = ran.stdout.strip()
    if not version.startswith(recipe.series):
        raise Stop(f"The image has OpenZFS {version or ran.stderr.strip()!r} where {recipe.series} was asked for.")
    return version


def _kernel(tree: Path) -> str:
    return max((path.name for path in (tree / "lib/modules").iterdir()), key=lambda name: [int(part) for part in re.findall(r"\d+", name)])


def _finish(tree: Path, log: Path) -> None:
    for argv in FINISH:
        _inside(tree, log, *argv)
    for path in ("etc/machine-id", "etc/hostname"):  # each machine is given its own
        (tree / path).write_text("")
    for path in ("etc/hostid", "etc/zfs/zpool.cache", "etc/resolv.conf"):
        (tree / path).unlink(missing_ok=True)
    for lists in (tree / "var/lib/apt/lists").glob("*_*"):
        lists.unlink()


def _keys(tree: Path, folder: Path) -> None:
    """A key for whoever owns the cache; the image lets in nobody else."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(folder / "id_lab")], check=True)
    home = tree / "root/.ssh"
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "authorized_keys").write_text((folder / "id_lab.pub").read_text())


def _pack(tree: Path, folder: Path) -> None:
    kernel = _kernel(tree)
    shutil.copyfile(tree / f"boot/vmlinuz-{kernel}", folder / "vmlinuz")
    shutil.copyfile(tree / f"boot/initrd.img-{kernel}", folder / "initrd.img")
    disk = str(folder / "root.img")
    subprocess.run(["truncate", "-s", SIZE, disk], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", *MKFS, "-d", str(tree), disk], check=True)


def mirror() -> str:
    """The mirror this machine itself installs from, so that a site's own mirror and proxy serve the lab too."""
    if setting := os.environ.get("SLOTLIGHT_LAB_MIRROR"):
        return setting
    apt = Path("/etc/apt")
    texts = [
        path.read_text()
        for path in (*apt.glob("sources.list.d/*.sources"), apt / "sources.list", *apt.glob("sources.list.d/*.list"))
        if path.exists()
    ]
    found = re.findall(r"^(?:URIs:|deb(?: \[[^]]*\])?) *(\S+/debian/?)(?: |$)", "\n".join(texts), re.M)
    if not found:
        raise Stop("apt knows no Debian mirror here. Name one in SLOTLIGHT_LAB_MIRROR.")
    return found[0]


def _inside(tree: Path, log: Path, *argv: str) -> None:
    """In the tree, with a /proc of its own that ends with the command."""
    _call(["unshare", "--mount", "--pid", "--fork", f"--mount-proc={tree}/proc", "chroot", str(tree), *argv], log)


def _call(argv: list[str], log: Path) -> None:
    with log.open("ab") as out:
        ran = subprocess.run(
            ["nice", "-n", "10", *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | QUIET, check=False
        )
    if ran.returncode:
        lines = log.read_text(errors="replace").strip().splitlines()[-25:]
        raise Stop(f"`{' '.join(argv[:3])} …` ended with exit code {ran.returncode}:\n" + "\n".join(lines))
