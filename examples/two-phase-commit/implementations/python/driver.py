"""Runs one test case of two-phase-commit on real processes, and judges what they did.

    driver.py CASE SEED PORTS PROGRAM [MISTAKE]

CASE is a file with the test case as JSON: the fields of `TestCase` in src/two_phase_commit.rs.
PORTS are those that participants may bind. A coordinator and participants are processes; between
them is a network that loses and delays datagrams; crashes are `kill -9`, and whoever crashed is
started again with the log that it left.
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

# Whoever answers later than this is slowed down by the machine: the coordinator asks again after
# 0.1 s, of which packets take up to 0.08 s.
PROMPT_S = 0.015


def main(case, seed, ports, program):
    processes = Processes(case, seed, ports, program)
    processes.begin()
    for at_ms, who, action in faults(case["crashes"]):
        time.sleep(max(0, processes.began + at_ms / 1000 - time.monotonic()))
        if action == "crash":
            processes.crash(who)
        else:
            processes.start(who)
    if processes.coordinator().wait() != 0:
        fail("crashed", "the coordinator ended with an error")
    if any(process.poll() is not None for who, process in processes.running.items() if who > 0):
        fail("crashed", "a participant ended by itself")
    logs = [lines(f"p{who}") for who in range(1, len(case["votes"]) + 1)]
    judge(case, lines("coordinator"), logs, processes.network.slowest_s)


def faults(crashes):
    """Returns crashes and restarts in the order in which they come."""
    schedule = []
    for crash in crashes:
        schedule.append((crash["at_ms"], crash["who"], "crash"))
        schedule.append((crash["at_ms"] + crash["for_ms"], crash["who"], "restart"))
    return sorted(schedule, key=lambda fault: fault[0])


def judge(case, coordinator, participants, slowest_s):
    """The oracle of the simulation: see `check` in src/two_phase_commit.rs."""
    decided = [words[2] == "1" for words in coordinator if words[0] == "decided"]
    is_calm = case["drop"] == 0 and not case["crashes"]
    for transaction, commit in enumerate(decided):
        all_voted_yes = all(votes[transaction] for votes in case["votes"])
        if commit and not all_voted_yes:
            fail("against-a-vote", f"transaction {transaction} was committed against a vote")
        if is_calm and commit != all_voted_yes:
            if slowest_s > PROMPT_S:
                answer(75, f"the machine is too slow: an answer took {slowest_s:.3f} s")
            fail("no-reason", f"transaction {transaction} was aborted for no reason")
    expected = [(transaction, commit) for transaction, commit in enumerate(decided)]
    for who, log in enumerate(participants, 1):
        did = sorted((int(words[1]), words[2] == "1") for words in log if words[0] == "done")
        if did != expected:
            fail("not-all-the-same", f"p{who} did {did}, but {expected} was decided")


def fail(kind, reason):
    answer(1, reason, kind=kind)


def answer(exit_code, reason, **more):
    print(json.dumps({"reason": reason, **more}))
    sys.exit(exit_code)


def lines(name):
    path = pathlib.Path(name)
    return [line.split() for line in path.read_text().split("\n")[:-1]] if path.exists() else []


class Processes:
    """Number 0 is the coordinator, others are participants. Logs are files of this folder."""

    def __init__(self, case, seed, ports, program):
        self.program = program
        self.running = {}
        self.crashed = set()
        votes = [["yes" if vote else "no" for vote in votes] for votes in case["votes"]]
        self.network = Network(ports[: len(votes)], case, seed)
        transactions = len(case["votes"][0])
        self.commands = [["coordinator", "coordinator", transactions, *self.network.ports]]
        for who, (port, votes) in enumerate(zip(ports, votes), 1):
            self.commands.append(["participant", f"p{who}", port, *votes])

    def begin(self):
        """Starts all, the coordinator last, since it begins at once."""
        for who in reversed(range(len(self.commands))):
            self.start(who)
            if self.running[who].stdout.readline() != "ready\n":
                answer(75, f"{self.commands[who][1]} did not start")
        self.began = time.monotonic()

    def start(self, who):
        # A restart is for those that were crashed.
        if who in self.running and who not in self.crashed:
            return
        self.crashed.discard(who)
        path, *mistake = self.program
        command = [sys.executable, path, *map(str, self.commands[who]), *mistake]
        self.running[who] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def crash(self, who):
        # A coordinator that has ended has nothing left to lose.
        if self.running[who].poll() is None:
            self.running[who].kill()
            self.running[who].wait()
            self.crashed.add(who)

    def coordinator(self):
        return self.running[0]


class Network:
    """A link from the coordinator to each participant, which loses and delays datagrams."""

    def __init__(self, participant_ports, case, seed):
        self.random = random.Random(f"{case['seed']}/{seed}")
        self.case = case
        self.fronts, self.backs, self.ports = [], [], []
        # How long the slowest answer of a participant took, from when it was sent the last datagram.
        self.slowest_s = 0
        for port in participant_ports:
            front, back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
            front.bind(("127.0.0.1", 0))
            back.connect(("127.0.0.1", port))
            self.fronts.append(front)
            self.backs.append(back)
            self.ports.append(front.getsockname()[1])
        threading.Thread(target=self.relay, daemon=True).start()

    def relay(self):
        # (when it arrives, its number, link, to the participant?, datagram)
        on_their_way, count, coordinator, asked = [], 0, {}, {}
        while True:
            now = time.monotonic()
            while on_their_way and on_their_way[0][0] <= now:
                arrival, _, link, is_forward, datagram = heapq.heappop(on_their_way)
                self.slowest_s = max(self.slowest_s, now - arrival)
                try:
                    if is_forward:
                        asked[link] = now
                        self.backs[link].send(datagram)
                    else:
                        self.fronts[link].sendto(datagram, coordinator[link])
                except ConnectionRefusedError:
                    pass  # Whoever it is for has crashed.
            wait = max(0, on_their_way[0][0] - time.monotonic()) if on_their_way else None
            for readable in select.select([*self.fronts, *self.backs], [], [], wait)[0]:
                is_forward = readable in self.fronts
                try:
                    datagram, sender = readable.recvfrom(65536)
                except ConnectionRefusedError:
                    continue
                link = (self.fronts if is_forward else self.backs).index(readable)
                if is_forward:
                    coordinator[link] = sender
                else:
                    self.slowest_s = max(self.slowest_s, time.monotonic() - asked[link])
                if self.random.random() < self.case["drop"]:
                    continue
                count += 1
                arrival = time.monotonic() + self.case["latency_ms"] / 1000
                heapq.heappush(on_their_way, (arrival, count, link, is_forward, datagram))


if __name__ == "__main__":
    test_case = json.loads(pathlib.Path(sys.argv[1]).read_text())
    main(test_case, int(sys.argv[2]), [int(port) for port in sys.argv[3].split(",")], sys.argv[4:])
