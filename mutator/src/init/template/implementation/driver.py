"""Runs one test case of %NAME% on the implementation, and judges what it did.

Simutant starts this for each test case, in an empty folder of its own:

    driver.py CASE SEED

CASE is a file with the test case as JSON: the fields of `TestCase` in the simulation. The answer is
the exit code (0 passed, 1 failed, 69 something is not installed, 75 nothing was found out) and the
last line on standard output, as JSON. Whatever this starts is killed when it ends.

To make it yours, start your own programs in `main`, and judge what they did as the simulation's
`configure` does.
"""

import heapq
import json
import pathlib
import random
import select
import socket
import subprocess
import sys
import threading
import time

# A datagram that is later than this would have been in time on a machine that is not busy.
LATE_S = 0.02
PROGRAM = str(pathlib.Path(__file__).with_name("sums.py"))


def main(case, seed):
    server = start("server")
    network = Network(int(server.stdout.readline()), case, seed)
    client = start("client", network.port, *case["amounts"])
    told = client.communicate()[0].strip()
    right = str(sum(case["amounts"]))
    if server.poll() is not None or client.returncode != 0:
        fail("crashed", "a program ended with an error")
    # As in the simulation: on a network that loses packets the client may give up.
    if told == right or told == "no answer" and case["drop"] > 0:
        return
    # A client that gives up on a busy machine says nothing of the programs.
    if told == "no answer" and network.late_s > LATE_S:
        answer(75, f"the machine is too slow: a datagram was {network.late_s:.3f} s late")
    fail("wrong-sum", f"the sum was {told}, but {right} is right")


def start(*arguments):
    command = [sys.executable, PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def fail(kind, reason):
    answer(1, reason, kind=kind)


def answer(exit_code, reason, **more):
    print(json.dumps({"reason": reason, **more}))
    sys.exit(exit_code)


class Network:
    """Loses, doubles and delays datagrams between a client and the server, as the test case says."""

    def __init__(self, server_port, case, seed):
        self.random = random.Random(f"{case['seed']}/{seed}")
        self.case = case
        self.late_s = 0
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.front.bind(("127.0.0.1", 0))
        self.back.connect(("127.0.0.1", server_port))
        self.port = self.front.getsockname()[1]
        threading.Thread(target=self.relay, daemon=True).start()

    def relay(self):
        # (when it arrives, its number, to the server?, datagram)
        on_their_way, count, client_address = [], 0, None
        while True:
            now = time.monotonic()
            while on_their_way and on_their_way[0][0] <= now:
                arrival, _, is_to_server, datagram = heapq.heappop(on_their_way)
                self.late_s = max(self.late_s, now - arrival)
                try:
                    if is_to_server:
                        self.back.send(datagram)
                    else:
                        self.front.sendto(datagram, client_address)
                except ConnectionRefusedError:
                    pass  # Nobody is there; to send to them is no error of the network.
            wait = on_their_way[0][0] - now if on_their_way else None
            for readable in select.select([self.front, self.back], [], [], wait)[0]:
                try:
                    datagram, sender = readable.recvfrom(65536)
                except ConnectionRefusedError:
                    continue
                if readable is self.front:
                    client_address = sender
                for _ in range(self.copies()):
                    count += 1
                    arrival = time.monotonic() + self.case["latency_ns"] / 1e9
                    heapq.heappush(on_their_way, (arrival, count, readable is self.front, datagram))

    def copies(self):
        if self.random.random() < self.case["drop"]:
            return 0
        return 2 if self.random.random() < self.case["duplicate"] else 1


if __name__ == "__main__":
    main(json.loads(pathlib.Path(sys.argv[1]).read_text()), int(sys.argv[2]))
