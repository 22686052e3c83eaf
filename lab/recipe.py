"""What a node's image is made of: Debian packages and a few files, none of which knows the product.

The digest of this recipe is the image's name in the cache; a changed recipe is another image.
"""

import hashlib
import json
from typing import NamedTuple

BASE = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "udev",
    "kmod",
    "iproute2",
    "python3",
    "sudo",
    "openssh-server",
    "ca-certificates",
    "curl",
    "sg3-utils",
    "lsscsi",
    "smartmontools",
    "ledmon",
    "sdparm",
    "parted",
    "gdisk",
    "fdisk",
    "cryptsetup-bin",
    "multipath-tools",
)
# The whole kernel and not the cloud one: that has no mptsas, ses and enclosure.
KERNEL = ("linux-image-amd64", "linux-headers-amd64", "initramfs-tools", "zstd")
ZFS = ("zfs-dkms", "zfsutils-linux", "zfs-zed")
# OpenZFS series -> where Debian has it.
SUITES = {"2.0": "bullseye", "2.1": "bookworm", "2.2": "bookworm", "2.3": "bookworm-backports", "2.4": "trixie-backports"}
DEFAULT = "2.1"
# OpenZFS series that no suite has -> the tag of the source archive that whoever builds the image hands over.
FROM_SOURCE = {"2.2": "zfs-2.2.9"}
TO_COMPILE = (
    *("build-essential", "autoconf", "automake", "libtool", "gawk", "python3-cffi", "python3-setuptools"),
    *("libaio-dev", "libblkid-dev", "libcurl4-openssl-dev", "libelf-dev", "libssl-dev", "libtirpc-dev", "libudev-dev"),
    *("uuid-dev", "zlib1g-dev"),
)
# The source is /usr/src/zfs of the tree, KERNEL the one that will boot.
COMPILE = """\
set -eu
cd /usr/src/zfs
[ -x configure ] || ./autogen.sh
./configure --prefix=/usr --sysconfdir=/etc --localstatedir=/var --libdir=/usr/lib/x86_64-linux-gnu --disable-pyzfs \\
  --with-linux=/usr/src/linux-headers-${KERNEL%-amd64}-common --with-linux-obj=/usr/src/linux-headers-$KERNEL
make -s -j"$(nproc)"
make -s install
ldconfig
depmod "$KERNEL"
make -s clean
systemctl enable zfs-import-cache.service zfs-import.target zfs-mount.service zfs-share.service zfs-zed.service zfs.target
"""
# Debian release -> what its least installation has no more, and a node needs.
MORE = {"trixie": ("e2fsprogs",)}
SIZE = "6G"
MKFS = ("-E", "lazy_itable_init=1")  # with a journal: power is cut here, and the node must come back as a server does

NETWORK = """\
[Match]
Type=ether

[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
"""
# Two nodes on one image must differ in their hostid, as two servers do.
HOSTID = """\
[Unit]
Description=The hostid that the machine was started with
DefaultDependencies=no
Before=zfs-load-module.service zfs-import.target
After=systemd-remount-fs.service

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for w in $(cat /proc/cmdline); do case $w in lab.hostid=*) zgenhostid -f $${w#lab.hostid=};; esac; done'

[Install]
WantedBy=sysinit.target
"""
SSHD = "PermitRootLogin prohibit-password\nUseDNS no\nMaxStartups 100\nMaxSessions 100\n"
FILES = {
    "etc/dpkg/dpkg.cfg.d/lab": "force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\npath-exclude=/usr/share/locale/*\n",
    "etc/initramfs-tools/conf.d/lab": "MODULES=list\n",
    "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\next4\n",
    "etc/systemd/network/lab.network": NETWORK,
    "etc/systemd/system/lab-hostid.service": HOSTID,
    "etc/ssh/sshd_config.d/lab.conf": SSHD,
    "etc/fstab": "",
    "etc/hosts": "127.0.0.1 localhost\n",
}
# After the packages: what runs at boot, and nothing that works in the background of a measurement.
FINISH = (
    ("systemctl", "enable", "systemd-networkd.service", "ssh.service", "lab-hostid.service"),
    ("systemctl", "mask", "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    # ledmon would reset the emulated adapter with a request it does not know; the others look for what is not there.
    ("systemctl", "mask", "ledmon.service", "openipmi.service", "e2scrub_reap.service"),
    # The tests start it where two paths lead to one disk.
    ("systemctl", "disable", "multipathd.service", "multipathd.socket"),
    ("apt-get", "clean"),
)


class Recipe(NamedTuple):
    series: str  # of OpenZFS, a key of SUITES

    @property
    def release(self) -> str:
        """Of Debian: everything but OpenZFS comes from it, the kernel too."""
        return self.suite.partition("-")[0]

    @property
    def base(self) -> tuple[str, ...]:
        return BASE + MORE.get(self.release, ())

    @property
    def suite(self) -> str:
        return SUITES[self.series]

    @property
    def tag(self) -> str:
        """Of the source that is compiled; "" where Debian has packages."""
        return FROM_SOURCE.get(self.series, "")

    @property
    def digest(self) -> str:
        """Over everything that shapes the image; twelve digits are enough to tell a handful of images apart."""
        whole = [self.series, self.release, self.suite, self.base, KERNEL, ZFS, SIZE, MKFS, FILES, FINISH]
        if self.tag:
            whole += [self.tag, TO_COMPILE, COMPILE]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        return f"zfs-{self.series}-{self.digest}"
