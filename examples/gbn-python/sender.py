"""Sends a file by go-back-n over UDP: python3 sender.py HOST PORT FILE."""

import socket
import struct
import sys
import time

SEGMENT_BYTES = 1399
WINDOW_MAX = 16
TIMEOUT_S = 0.02
PATIENCE_S = 5.0
GOODBYES = 8

DATA, END, ACK, BYE = range(4)
HEADER = struct.Struct("!BI")  # kind, number


def send_file(peer, content):
    """Sends `content` to `peer`; raises TimeoutError if nothing is acknowledged for PATIENCE_S."""
    segments = [content[at : at + SEGMENT_BYTES] for at in range(0, len(content), SEGMENT_BYTES)]
    packets = [HEADER.pack(DATA, number) + segment for number, segment in enumerate(segments)]
    packets.append(HEADER.pack(END, len(segments)))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect(peer)
        base, following, sent, window = 0, 0, 0, 4
        progress_at = resend_at = time.monotonic()
        while base < len(packets):
            while following < min(base + window, len(packets)):
                if following == base:
                    resend_at = time.monotonic() + TIMEOUT_S
                send(link, packets[following])
                following += 1
            sent = max(sent, following)

            acknowledged = receive_acknowledgement(link, resend_at)
            now = time.monotonic()
            if acknowledged is None:
                if now - progress_at > PATIENCE_S:
                    raise TimeoutError(f"nothing new was acknowledged for {PATIENCE_S} s")
                following = base
                window = max(1, window // 2)
            elif base < acknowledged <= sent:
                base = acknowledged
                following = max(following, base)
                window = min(WINDOW_MAX, window + 1)
                progress_at = now
                resend_at = now + TIMEOUT_S

        for _ in range(GOODBYES):
            send(link, HEADER.pack(BYE, 0))


def send(link, packet):
    """Sends a packet; a receiver that is not there loses it."""
    try:
        link.send(packet)
    except ConnectionRefusedError:
        pass


def receive_acknowledgement(link, until):
    """Returns the number that the receiver expects next, or None if it says nothing before `until`."""
    while (wait := until - time.monotonic()) > 0:
        link.settimeout(wait)
        try:
            packet = link.recv(64)
        except (socket.timeout, ConnectionRefusedError):
            continue
        if len(packet) == HEADER.size:
            kind, number = HEADER.unpack(packet)
            if kind == ACK:
                return number
    return None


if __name__ == "__main__":
    host, port, path = sys.argv[1:]
    with open(path, "rb") as file:
        send_file((host, int(port)), file.read())
