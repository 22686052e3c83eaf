"""Where the agent lives on a node, and the texts of the files around it."""

from __future__ import annotations

PROGRAM = "/usr/local/sbin/slotlight-agent"  # where `install` puts it; the package has its own place
DEB_PROGRAM = "/usr/sbin/slotlight-agent"
UNIT_NAME = "slotlight-agent.service"
UNIT = f"/etc/systemd/system/{UNIT_NAME}"
DEB_UNIT = f"/usr/lib/systemd/system/{UNIT_NAME}"
FOLDER = "/var/lib/slotlight"
CONFIG = "/etc/slotlight/agent.json"
POLICY = "/etc/slotlight/policy.json"
ZED_FOLDER = "/etc/zfs/zed.d"
ZED_HOOK = f"{ZED_FOLDER}/all-slotlight.sh"
OBSERVE = '{"mode": "observe", "operations": [], "pools": []}\n'


def unit(program: str) -> str:
    """The systemd unit.

    Root and devices are needed: labels are read from the disks, and `zpool` opens /dev/zfs. KillMode=process lets a running
    `zpool replace` outlive a restart of the agent, which finds it again. /sys stays writable for what an order may switch there.
    """
    return f"""\
[Unit]
Description=Slotlight agent: reports what this storage node says, and does what it is allowed to
After=network-online.target zfs.target
Wants=network-online.target
ConditionPathExists={FOLDER}/identity.json

[Service]
ExecStart={program} run
Restart=always
RestartSec=5
KillMode=process
StateDirectory=slotlight
StateDirectoryMode=0700
Nice=5
IOSchedulingClass=best-effort
IOSchedulingPriority=6
MemoryHigh=128M
TasksMax=256
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths={FOLDER} -/etc/zfs -/run
ProtectHome=yes
PrivateTmp=yes
ProtectHostname=yes
ProtectClock=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
"""
