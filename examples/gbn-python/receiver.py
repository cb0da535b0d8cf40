"""Receives a file by go-back-n over UDP: python3 receiver.py PORT FILE."""

import socket
import struct
import sys

PATIENCE_S = 10.0
LINGER_S = 2.0  # a sender that lacks the last acknowledgement tries again many times within this

DATA, END, ACK, BYE = range(4)
HEADER = struct.Struct("!BI")  # kind, number


def receive_file(port, file):
    """Writes what the sender sends to `file`; raises socket.timeout or EOFError if the sender is gone too early."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind(("127.0.0.1", port))
        expected, ended = 0, False
        while True:
            link.settimeout(LINGER_S if ended else PATIENCE_S)
            try:
                packet, peer = link.recvfrom(65535)
            except socket.timeout:  # TimeoutError by another name from Python 3.10 on
                if ended:
                    return
                raise
            if len(packet) < HEADER.size:
                continue
            kind, number = HEADER.unpack_from(packet)
            if kind == BYE:
                if ended:
                    return
                raise EOFError("the sender left before the end of the file")
            if kind not in (DATA, END):
                continue
            if number == expected and not ended:
                expected += 1
                if kind == END:
                    file.flush()
                    ended = True
                else:
                    file.write(packet[HEADER.size :])
            link.sendto(HEADER.pack(ACK, expected), peer)


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as output:
        receive_file(int(sys.argv[1]), output)
