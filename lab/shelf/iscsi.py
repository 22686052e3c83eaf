"""One iSCSI connection (RFC 7143), as far as libiscsi in QEMU needs it: no digests, no authentication, immediate data only."""

import socket
import struct
from collections.abc import Callable

from lab.shelf.scsi import Answer, room

TARGET = "iqn.2026-11.lab:shelf"
NOP, COMMAND, TASK, LOGIN, TEXT, LOGOUT = 0x00, 0x01, 0x02, 0x03, 0x04, 0x06
NUMBERED = (NOP, COMMAND, LOGIN, TEXT, LOGOUT)
NO_TAG = b"\xff" * 4
SECURITY_STAGE = 0
ECHOED = ("ImmediateData", "DataPDUInOrder", "DataSequenceInOrder", "DefaultTime2Wait", "DefaultTime2Retain")
SETTLED = {
    "HeaderDigest": "None",
    "DataDigest": "None",
    "InitialR2T": "No",
    "IFMarker": "No",
    "OFMarker": "No",
    "MaxConnections": "1",
    "MaxOutstandingR2T": "1",
    "ErrorRecoveryLevel": "0",
}
BURST_BYTES = 262144
Scsi = Callable[[int, bytes, bytes], Answer]


class Connection:
    def __init__(self, sock: socket.socket, scsi: Scsi) -> None:
        self.sock, self.scsi = sock, scsi
        self.status_number, self.expected = 1, 0

    def serve(self) -> None:
        """Until the other side logs out or goes away."""
        answers = {NOP: self._nop, COMMAND: self._command, TASK: self._task, LOGIN: self._login, TEXT: self._text}
        with self.sock:
            try:
                while True:
                    header, data = self._receive()
                    kind = header[0] & 0x3F
                    if kind in NUMBERED:
                        immediate = bool(header[0] & 0x40)
                        self.expected = struct.unpack(">I", header[24:28])[0] + (0 if immediate else 1)
                    if kind == LOGOUT:
                        self._send(0x26, header)
                        return
                    answers[kind](header, data)
            except (EOFError, OSError) as error:
                print(f"A connection ended after {self.status_number - 1} answers: {error or 'the other side hung up'}.", flush=True)

    def _login(self, header: bytes, data: bytes) -> None:
        asked = dict(pair.split("=", 1) for pair in data.decode().split("\0") if "=" in pair)
        if header[1] >> 2 & 3 == SECURITY_STAGE:
            fields = {"TargetPortalGroupTag": "1", "AuthMethod": "None"}
        else:
            fields = {name: SETTLED[name] for name in asked if name in SETTLED}
            fields |= {name: asked[name] for name in asked if name in ECHOED}
            fields |= {name: str(min(int(asked[name]), BURST_BYTES)) for name in ("FirstBurstLength", "MaxBurstLength") if name in asked}
            fields["MaxRecvDataSegmentLength"] = str(BURST_BYTES)
        self._send(0x23, header, flags=header[1] & 0x8F, middle=header[8:14] + b"\0\x01", data=_pairs(fields))

    def _text(self, header: bytes, data: bytes) -> None:
        host, port = self.sock.getsockname()
        fields = {"TargetName": TARGET, "TargetAddress": f"{host}:{port},1"}
        self._send(0x24, header, tag=NO_TAG, data=_pairs(fields))

    def _nop(self, header: bytes, data: bytes) -> None:
        if header[16:20] != NO_TAG:
            self._send(0x20, header, middle=header[8:16], tag=NO_TAG, data=data)

    def _task(self, header: bytes, data: bytes) -> None:
        self._send(0x22, header)  # nothing is ever queued here, so whatever is to be aborted has ended

    def _command(self, header: bytes, data: bytes) -> None:
        lun, expected, command = header[9] | (header[8] & 0x3F) << 8, struct.unpack(">I", header[20:24])[0], header[32:48]
        reply = self.scsi(lun, command, data)
        if reply.sense:
            sense = reply.sense_bytes()
            self._send(0x21, header, status=reply.status, data=struct.pack(">H", len(sense)) + sense)
        elif header[1] & 0x40:  # a read: data and good status in one
            asked = room(command)
            body = reply.data[: expected if asked is None else min(asked, expected)]
            short = expected - len(body)
            self._send(0x25, header, flags=0x81 | (2 if short else 0), tag=NO_TAG, tail=bytes(8) + struct.pack(">I", short), data=body)
        else:
            self._send(0x21, header)

    def _send(self, kind: int, to: bytes, flags: int = 0x80, status: int = 0, middle: bytes = bytes(8), tag: bytes = bytes(4),
              tail: bytes = bytes(12), data: bytes = b"") -> None:  # fmt: skip
        header = bytes([kind, flags, 0, status, 0]) + len(data).to_bytes(3, "big") + middle + to[16:20] + tag
        header += struct.pack(">III", self.status_number, self.expected, self.expected + 32) + tail
        self.status_number += 1
        self.sock.sendall(header + data + bytes(-len(data) % 4))

    def _receive(self) -> tuple[bytes, bytes]:
        header = self._read(48)
        length = int.from_bytes(header[5:8], "big")
        self._read(header[4] * 4)
        return header, self._read(length + -length % 4)[:length]

    def _read(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            more = self.sock.recv(count - len(got))
            if not more:
                raise EOFError
            got += more
        return got


def _pairs(fields: dict[str, str]) -> bytes:
    return b"".join(f"{name}={value}\0".encode() for name, value in fields.items())
