"""Runs one test case of tickets on a real seller, and leaves what its clients saw.

    driver.py CASE SEED TICKETS SELLER...

The first line that this prints is the plan of the test case: the seller, and the network between it and the clients,
which are threads here. It judges nothing: its answer names a history, and the specification in src/lib.rs judges that.
"""

import json
import pathlib
import socket
import sys
import threading
import time

TIMEOUT_S = 0.1
TRIES = 5


def main(case, seed, tickets, seller):
    names = [f"client-{number}" for number in range(1, len(case["orders"]) + 1)]
    link = {"latency": {"constant_ns": case["latency_ms"] * 1_000_000}, "drop": case["drop"], "duplicate": case["duplicate"]}
    command = [sys.executable, *seller, "{port}", tickets]
    plan = {
        "processes": [{"name": "seller", "command": command, "ready": {"line": "ready"}}],
        "clients": names,
        "network": {"link": link},
        "seed": (case["seed"] + seed) % 2**64,
    }
    print(json.dumps(plan), flush=True)
    begun = json.loads(sys.stdin.readline())
    start_ns = time.monotonic_ns()
    calls, clients = [], []
    for number, orders in enumerate(case["orders"], 1):
        address = begun["clients"][names[number - 1]]["seller"]
        clients.append(threading.Thread(target=client, args=(number, address, orders, calls, start_ns)))
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    pathlib.Path("calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    print(json.dumps({"history": "calls.jsonl"}))


def client(session, address, orders, calls, start_ns):
    """Orders one thing after the other, and adds a call for each to `calls`."""
    now_ns = lambda: time.monotonic_ns() - start_ns
    host, port = address.split(":")
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.connect((host, int(port)))
    for number, wanted in enumerate(orders):
        call = {"session": session, "operation": wanted, "invoked_ns": now_ns()}
        is_sold = order(channel, number, wanted)
        if is_sold is None:
            # It may have been sold, or not.
            calls.append({**call, "end": "unknown"})
            return
        calls.append({**call, "end": {"returned": {"at_ns": now_ns(), "response": is_sold}}})


def order(channel, number, wanted):
    for _ in range(TRIES):
        channel.send(b"%d %d" % (number, wanted))
        deadline = time.monotonic() + TIMEOUT_S
        while (left := deadline - time.monotonic()) > 0:
            channel.settimeout(left)
            try:
                answered, is_sold = map(int, channel.recv(1024).split())
            except TimeoutError:
                break
            # Another number is an answer to what was asked before, late or doubled.
            if answered == number:
                return is_sold == 1
    return None


if __name__ == "__main__":
    test_case = json.loads(pathlib.Path(sys.argv[1]).read_text())
    main(test_case, int(sys.argv[2]), sys.argv[3], sys.argv[4:])
