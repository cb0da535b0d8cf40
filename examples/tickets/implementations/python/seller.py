"""Sells tickets over UDP.

    seller.py [--sells-again] PORT TICKETS

With --sells-again it makes a mistake: it forgets what it has answered, and sells an order that comes again, again.
"""

import socket
import sys


def main(port, left, sells_again):
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", port))
    print("ready", flush=True)
    answered = {}
    while True:
        message, client = channel.recvfrom(1024)
        number, wanted = map(int, message.split())
        last, is_sold = answered.get(client, (-1, False))
        if number < last:
            continue
        if number > last or sells_again:
            is_sold = wanted <= left
            left -= wanted if is_sold else 0
            answered[client] = (number, is_sold)
        channel.sendto(b"%d %d" % (number, is_sold), client)


if __name__ == "__main__":
    main(int(sys.argv[-2]), int(sys.argv[-1]), "--sells-again" in sys.argv)
