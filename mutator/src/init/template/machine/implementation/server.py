"""The real server: replace it by yours.

    server.py PORT      holds a value, for clients that ask over UDP

A request is `NUMBER read`, `NUMBER write VALUE` or `NUMBER compare-and-set FROM TO`, and its answer
begins with the same number.
"""

import socket
import sys


def main(port):
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", port))
    value = None
    # The last request of each client, and what it was answered.
    answered = {}
    while True:
        request, client = channel.recvfrom(1024)
        number, operation, *values = request.decode().split()
        last, answer = answered.get(client, (0, None))
        if int(number) < last:
            continue
        if int(number) > last:
            value, answer = apply(value, operation, values)
            answered[client] = (int(number), answer)
        channel.sendto(f"{number} {answer}".encode(), client)


def apply(value, operation, values):
    if operation == "read":
        return value, "none" if value is None else f"value {value}"
    if operation == "write":
        return values[0], "done"
    if value == values[0]:
        return values[1], "yes"
    return value, "no"


if __name__ == "__main__":
    main(int(sys.argv[1]))
