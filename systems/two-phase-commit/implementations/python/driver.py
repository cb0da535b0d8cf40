"""Runs one test case of two-phase-commit on real processes, and judges what they did.

    driver.py CASE SEED PROGRAM [MISTAKE]

CASE is a file with the test case as JSON: the fields of `TestCase` in src/lib.rs. The
first line that this prints is the plan of the test case: the processes, a network that loses and
delays what they send, and crashes. Simutant runs it, and says on standard input what happens.
"""

import json
import pathlib
import sys

MS = 1_000_000

# A machine that delivers later than this slows processes down: the coordinator asks again after
# 0.1 s, of which packets take up to 0.08 s.
LATE_MS = 15


def main(case, seed, program):
    print(json.dumps(plan(case, seed, program)), flush=True)
    # Whatever else ends is none of the plan's, and fails the test case without us.
    late_ms = next(event for event in map(json.loads, sys.stdin) if event["event"] == "ended")["late_ms"]
    logs = [lines(f"p{who}") for who in range(1, len(case["votes"]) + 1)]
    judge(case, lines("coordinator"), logs, late_ms)


def plan(case, seed, program):
    python, ready = ["python3", *program[:1]], {"line": "ready"}
    processes = []
    for who, votes in enumerate(case["votes"], 1):
        words = ["participant", "log", "{port}", *("yes" if vote else "no" for vote in votes)]
        processes.append({"name": f"p{who}", "command": [*python, *words, *program[1:]], "ready": ready})
    # The coordinator is the last one, since it begins at once.
    words = ["coordinator", "log", str(len(case["votes"][0])), *(f"{{{process['name']}}}" for process in processes)]
    command = [*python, *words, *program[1:]]
    processes.append({"name": "coordinator", "command": command, "ready": ready, "exit": "success"})
    link = {"latency": {"constant_ns": case["latency_ms"] * MS}, "drop": case["drop"]}
    return {
        "processes": processes,
        "faults": {"schedule": [fault for crash in case["crashes"] for fault in faults(crash)]},
        "network": {"link": link},
        "seed": (case["seed"] + seed) % 2**64,
    }


def faults(crash):
    """Returns a crash and the restart after it."""
    component = f"p{crash['component']}" if crash["component"] > 0 else "coordinator"
    restart_ms = crash["at_ms"] + crash["for_ms"]
    return [
        {"at_ns": crash["at_ms"] * MS, "fault": "crash", "component": component},
        {"at_ns": restart_ms * MS, "fault": "restart", "component": component},
    ]


def judge(case, coordinator, participants, late_ms):
    """The oracle of the simulation: see `check` in src/lib.rs."""
    decided = [words[2] == "1" for words in coordinator if words[0] == "decided"]
    is_calm = case["drop"] == 0 and not case["crashes"]
    for transaction, commit in enumerate(decided):
        all_voted_yes = all(votes[transaction] for votes in case["votes"])
        if commit and not all_voted_yes:
            fail("against-a-vote", f"transaction {transaction} was committed against a vote")
        if is_calm and commit != all_voted_yes:
            if late_ms > LATE_MS:
                answer(75, f"the machine is too slow: it was {late_ms} ms late")
            fail("no-reason", f"transaction {transaction} was aborted for no reason")
    expected = [(transaction, commit) for transaction, commit in enumerate(decided)]
    observed = [{"completed": {"decision": decision(commit)}} for commit in decided]
    for who, log in enumerate(participants, 1):
        did = sorted((int(words[1]), words[2] == "1") for words in log if words[0] == "done")
        if did != expected:
            fail("not-all-the-same", f"p{who} did {did}, but {expected} was decided")
        observed += [{"told": {"worker": who, "decision": decision(commit)}} for _, commit in did]
    # A test case of the net says what may be observed.
    outcomes = case.get("outcomes", [])
    if outcomes and event_set(observed) not in map(event_set, outcomes):
        fail("other-outcome", f"{observed} was observed, and one of {outcomes} is allowed")


def decision(commit):
    return "commit" if commit else "abort"


def event_set(events):
    return {json.dumps(event, sort_keys=True) for event in events}


def fail(kind, reason):
    answer(1, reason, kind=kind)


def answer(exit_code, reason, **more):
    print(json.dumps({"reason": reason, **more}))
    sys.exit(exit_code)


def lines(name):
    """Returns the words of each line of a process's log."""
    path = pathlib.Path(name, "log")
    return [line.split() for line in path.read_text().split("\n")[:-1]] if path.exists() else []


if __name__ == "__main__":
    test_case = json.loads(pathlib.Path(sys.argv[1]).read_text())
    main(test_case, int(sys.argv[2]), sys.argv[3:])
