"""Compares suites at equal time, on the programs of a system with a mistake each.

    equal_time.py OUT RIGHT NET SUITE... [--also TEST]... [--without NAME]...

OUT has an experiment on a universe whose first test cases are those of the net, and all others uniform:

    simutant study SYSTEM --source net --cases N --out OUT
    simutant experiment SYSTEM --cases N --repeat 2 --out OUT

RIGHT is the right program, on which test cases take their time. NET says how many test cases each net of the system
has, one after the other: `2,4,8,16` for two-phase commit, `6` for storage. A SUITE is what `simutant select --time T
--json` chose. TEST is what `simutant test --json` printed of the same test cases on a program that an experiment leaves
out, since most fail on it, or tries on the first ones alone, as the right one. NAME is a program that does not count.

For each suite, 2,000 suites of each rule that take as long on the right program are drawn, with one of the trials of
each of their test cases. A line has the mean share of the programs with a mistake that a suite fails on, with the 2.5 %
and the 97.5 % quantile. A rule whose test cases are all in a suite before its time is over stops there.
"""

import argparse
import collections
import itertools
import json
import random

DRAWS = 2000


def number(name):
    # A re-seeding of a test case has its number after a plus.
    return int(name.split("-")[-1].split("+")[0])


def trials_of(folder, also):
    """Returns each trial: its program, test case, whether it failed, and how long it took."""
    with open(f"{folder}/trials.jsonl") as file:
        for trial in (line["trial"] for line in map(json.loads, file) if "trial" in line):
            yield trial["implementation"], trial["name"], trial["failed"] is not None, trial["duration_ms"]
    for test in also:
        with open(test) as file:
            report = json.load(file)
        for result in report["results"]:
            yield report["implementation"], result["name"], result["verdict"] != "pass", result["duration_ms"]


def read(folder, right, also, without):
    """Returns the trials of each program with a mistake, by test case, and how long test cases take on the right one."""
    failed = collections.defaultdict(lambda: collections.defaultdict(list))
    took = collections.defaultdict(list)
    for implementation, name, has_failed, milliseconds in trials_of(folder, also):
        if implementation == right:
            took[number(name)].append(milliseconds / 1000)
        elif implementation not in without:
            failed[implementation][number(name)].append(has_failed)
    return failed, {case: max(sum(all) / len(all), 0.001) for case, all in took.items()}


def main(arguments):
    failed, seconds = read(arguments.out, arguments.right, arguments.also, arguments.without)
    draw = random.Random(1)
    ends = list(itertools.accumulate(map(int, arguments.net.split(",")), initial=0))
    nets, uniform = [range(*both) for both in itertools.pairwise(ends)], range(ends[-1], len(seconds))
    shuffled = lambda cases: draw.sample(cases, len(cases))
    rules = {
        "all paths": lambda: shuffled(range(ends[-1])),
        "simulation": lambda: [draw.choice(draw.choice(nets)) for _ in range(200)],
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

    print(f"{len(failed)} programs; the net's test cases take {sum(seconds[case] for case in range(ends[-1])):.1f} s,",
          f"{len(uniform)} uniform ones {sum(seconds[case] for case in uniform):.1f} s")
    for suite in arguments.suites:
        with open(suite) as file:
            chosen = list(dict.fromkeys(number(case["name"]) for case in json.load(file)["cases"]))
        limit = sum(seconds[case] for case in chosen)
        shares = {name: [found(within(rule(), limit)) for _ in range(DRAWS)] for name, rule in rules.items()}
        shares["expected kills"] = [found(chosen) for _ in range(DRAWS)]
        print(f"{limit:.1f} s", *(f"{name} {told(of)}" for name, of in shares.items()), sep="; ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ["out", "right", "net"]:
        parser.add_argument(name)
    parser.add_argument("suites", nargs="+", metavar="suite")
    for name in ["--also", "--without"]:
        parser.add_argument(name, action="append", default=[])
    main(parser.parse_args())
