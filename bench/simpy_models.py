"""SimPy: processes are generators.

Called as the other models are (see src/lib.rs, which says what each workload is), it prints the same line of JSON. The random numbers
are those of Python's own generator, whose exponential draw costs a small part of a step.
"""

import json
import random
import sys
import time

import simpy

LATENCY_MIN_S = 0.5e-3
LATENCY_MAX_S = 1.5e-3
DROP = 0.01
ARRIVAL_RATE = 0.9


class Counts:
    """What the processes count together."""

    def __init__(self):
        self.units = 0
        self.timeouts = 0
        self.stays_s = 0.0


def hold(environment, n, units, counts):
    """Adds sleeping processes, and returns when to stop."""

    def sleeper():
        timeout, exponential = environment.timeout, random.expovariate
        while True:
            yield timeout(exponential(1.0))
            counts.units += 1

    for _ in range(n):
        environment.process(sleeper())
    return units / n


def ping(environment, n, timeout_s, units, drop, counts):
    """Adds pairs of players, and returns when to stop.

    A datagram is a timeout whose callback puts it into the other's store: cheaper than a process for each. A receive takes
    back its request for an item if the timeout wins, as it would lose the next item otherwise.
    """

    def send(store, number):
        if drop > 0.0 and random.random() < drop:
            return
        arrival = environment.timeout(random.uniform(LATENCY_MIN_S, LATENCY_MAX_S), number)
        arrival.callbacks.append(lambda event: store.put(event.value))

    def player(own, other, is_first):
        number = 0
        if is_first:
            send(other, number)
        while True:
            request = own.get()
            yield request | environment.timeout(timeout_s)
            if request.triggered:
                counts.units += 1
                number = request.value + 1
                send(other, number)
            else:
                request.cancel()
                counts.timeouts += 1
                if is_first:
                    send(other, number)

    for _ in range(n):
        first, second = simpy.Store(environment), simpy.Store(environment)
        environment.process(player(first, second, True))
        environment.process(player(second, first, False))
    return units * 1e-3 / n


def mm1(environment, units, counts):
    """Adds the arrivals and the server, and returns the event to stop at."""
    queue = simpy.Store(environment)

    def arrivals():
        for _ in range(units):
            yield environment.timeout(random.expovariate(ARRIVAL_RATE))
            queue.put(environment.now)

    def server():
        for _ in range(units):
            arrived_at = yield queue.get()
            yield environment.timeout(random.expovariate(1.0))
            counts.stays_s += environment.now - arrived_at
            counts.units += 1

    environment.process(arrivals())
    return environment.process(server())


def peak_memory():
    """Returns the most memory that this process had, in bytes, or None where there is no /proc."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def main():
    workload, n, timeout_ms, units, seed = sys.argv[1], *map(int, sys.argv[2:])
    random.seed(seed)
    environment, counts = simpy.Environment(), Counts()
    if workload == "hold":
        until = hold(environment, n, units, counts)
    elif workload in ("ping", "ping-lossy"):
        drop = DROP if workload == "ping-lossy" else 0.0
        until = ping(environment, n, timeout_ms / 1e3, units, drop, counts)
    elif workload == "mm1":
        until = mm1(environment, units, counts)
    else:
        sys.exit(3)
    start = time.process_time_ns()
    environment.run(until)
    cpu_ns = time.process_time_ns() - start
    stay_s = counts.stays_s / counts.units if workload == "mm1" else None
    outcome = {
        "cpu_ns": cpu_ns,
        "units": counts.units,
        "timeouts": counts.timeouts,
        "virtual_s": environment.now,
        "stay_s": stay_s,
        "rss_bytes": peak_memory(),
    }
    print(json.dumps(outcome))


main()
