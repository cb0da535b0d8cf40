"""Compares suites of two-phase commit at equal time, on the programs over TCP and over UDP with a mistake each.

    equal_time.py OUT TELLS SUITE...

OUT has an experiment (`simutant experiment two-phase-commit --repeat 3`) on a universe whose first 30 test cases are those
of the net (`simutant study two-phase-commit --source net --cases 130`); TELLS is what `simutant test --json` printed of
the same test cases on `two-phase-commit-tcp-tells-no-voters-only`, which an experiment leaves out since most fail on it;
a SUITE is what `simutant select --time T --json` chose.

For each suite, 2,000 suites of each rule that take as long on the right program are drawn, with one of the trials of each
of their test cases. A line has the mean share of the programs with a mistake that a suite fails on, with the 2.5 % and
the 97.5 % quantile.
"""

import collections
import json
import random
import sys

NET = range(30)
DRAWS = 2000


def number(name):
    # A re-seeding of a test case has its number after a plus.
    return int(name.split("-")[-1].split("+")[0])


def read(folder, tells):
    """Returns the trials of each program with a mistake, by test case, and how long test cases take on the right one."""
    failed = collections.defaultdict(lambda: collections.defaultdict(list))
    took = collections.defaultdict(list)
    with open(f"{folder}/trials.jsonl") as file:
        trials = [line["trial"] for line in map(json.loads, file) if "trial" in line]
    for trial in trials:
        if trial["implementation"] == "two-phase-commit-tcp":
            took[number(trial["name"])].append(trial["duration_ms"] / 1000)
        elif trial["implementation"] not in ("two-phase-commit-python", "two-phase-commit-tcp-tells-no-voters-only"):
            failed[trial["implementation"]][number(trial["name"])].append(trial["failed"] is not None)
    with open(tells) as file:
        for result in json.load(file)["results"]:
            failed["tells-no-voters-only"][number(result["name"])].append(result["verdict"] != "pass")
    return failed, {case: max(sum(all) / len(all), 0.001) for case, all in took.items()}


def main(folder, tells, suites):
    failed, seconds = read(folder, tells)
    draw = random.Random(1)
    uniform = range(len(NET), len(seconds))
    # The net's test cases are those of one to four workers, by the number of workers.
    of_workers = [range(2**workers - 2, 2 ** (workers + 1) - 2) for workers in range(1, 5)]
    shuffled = lambda cases: draw.sample(cases, len(cases))
    rules = {
        "all paths": lambda: shuffled(NET),
        "simulation": lambda: [draw.choice(draw.choice(of_workers)) for _ in range(200)],
        "uniform": lambda: shuffled(uniform),
    }

    def within(cases, limit):
        suite = []
        for case in dict.fromkeys(cases):
            if seconds[case] <= limit:
                limit -= seconds[case]
                suite.append(case)
        return suite

    def found(suite):
        return sum(any(draw.choice(of[case]) for case in suite) for of in failed.values()) / len(failed)

    def told(shares):
        shares = sorted(shares)
        low, high = shares[DRAWS // 40], shares[-DRAWS // 40]
        return f"{100 * sum(shares) / DRAWS:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"

    for suite in suites:
        with open(suite) as file:
            chosen = list(dict.fromkeys(number(case["name"]) for case in json.load(file)["cases"]))
        limit = sum(seconds[case] for case in chosen)
        shares = {name: [found(within(rule(), limit)) for _ in range(DRAWS)] for name, rule in rules.items()}
        shares["expected kills"] = [found(chosen) for _ in range(DRAWS)]
        print(f"{limit:.1f} s", *(f"{name} {told(of)}" for name, of in shares.items()), sep="; ")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
