"""Where the agent lives on a node, and the texts of the files around it."""

from __future__ import annotations

from agents.host.worker_pool import BULK_MAX

PROGRAM = "/usr/local/sbin/slotlight-agent"  # where `install` puts it; the package has its own place
DEB_PROGRAM = "/usr/sbin/slotlight-agent"
UNIT_NAME = "slotlight-agent.service"
UNIT = f"/etc/systemd/system/{UNIT_NAME}"
DEB_UNIT = f"/usr/lib/systemd/system/{UNIT_NAME}"
RELAY_UNIT_NAME = "slotlight-relay.service"
RELAY_UNIT = f"/etc/systemd/system/{RELAY_UNIT_NAME}"
DEB_RELAY_UNIT = f"/usr/lib/systemd/system/{RELAY_UNIT_NAME}"
RELAY_SOCKET = "/run/slotlight-relay/socket"
FOLDER = "/var/lib/slotlight"
RUN = "/run/slotlight"  # in memory: session, locks; one for all agents of the node
ETC = "/etc/slotlight"
CONFIG = f"{ETC}/agent.json"
CA = f"{ETC}/ca.pem"
POLICY = f"{ETC}/policy.json"
ZED_FOLDER = "/etc/zfs/zed.d"
ZED_UNIT_NAME = "zfs-zed.service"
ZED_HOOK = f"{ZED_FOLDER}/all-slotlight.sh"
ZDB_THREADS = 256  # of one `zdb -l`: 75 to 90 were seen on two CPUs with OpenZFS 2.1; without room for all of them it aborts
TASKS_MAX = (BULK_MAX + 1) * ZDB_THREADS
ZDB_MIB = 16  # 13 were seen
MEMORY_MIB = 128 + BULK_MAX * ZDB_MIB  # above it everything we started is slowed down
OBSERVE = '{"mode": "observe", "operations": [], "pools": []}\n'


def unit(program: str) -> str:
    """The agent's systemd unit: root without a network. Its relay has the network, and nothing else.

    Root and devices are needed: labels are read from the disks, and `zpool` opens /dev/zfs. KillMode=process lets a running
    `zpool replace` outlive a restart of the agent, which finds it again, and OOMPolicy=continue a lack of memory. The runtime folder
    must outlive a restart too, or every order sealed before it were void. /sys stays writable for what an order may switch there.
    Tasks and memory leave room for every zdb that may run at once. The clock is protected by hand: up to systemd 252 ProtectClock
    allows one device, and by that forbids all others.
    """
    return f"""\
[Unit]
Description=Slotlight agent: reports what this storage node shows, and does what it is allowed to
After=zfs.target {RELAY_UNIT_NAME}
Wants={RELAY_UNIT_NAME}
ConditionPathExists={FOLDER}/identity.json

[Service]
ExecStart={program} run --relay {RELAY_SOCKET}
PrivateNetwork=yes
IPAddressDeny=any
Restart=always
RestartSec=5
KillMode=process
OOMPolicy=continue
RuntimeDirectory=slotlight
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
StateDirectory=slotlight
StateDirectoryMode=0700
Nice=5
IOSchedulingClass=best-effort
IOSchedulingPriority=6
MemoryHigh={MEMORY_MIB}M
TasksMax={TASKS_MAX}
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths={FOLDER} -/etc/zfs -/run
ProtectHome=yes
PrivateTmp=yes
ProtectHostname=yes
CapabilityBoundingSet=~CAP_SYS_TIME CAP_WAKE_ALARM
SystemCallFilter=~@clock
SystemCallErrorNumber=EPERM
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077

[Install]
WantedBy=multi-user.target
"""


def relay_unit(program: str) -> str:
    """The relay's systemd unit: a user made for it, no device, no capability, nothing to write but its socket."""
    return f"""\
[Unit]
Description=Slotlight relay: carries the agent's connections to the portal
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={program} relay --socket {RELAY_SOCKET}
Restart=always
RestartSec=5
DynamicUser=yes
RuntimeDirectory=slotlight-relay
RuntimeDirectoryMode=0700
MemoryHigh=64M
TasksMax=64
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=yes
ProtectHostname=yes
ProtectClock=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
UMask=0077

[Install]
WantedBy=multi-user.target
"""
