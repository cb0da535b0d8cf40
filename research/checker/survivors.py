"""Writes SURVIVORS.md: the mutants of the oracle that a study's test cases do not kill, with reasons from reasons.toml.

    survivors.py STUDY [--add] [--prune]
    survivors.py --fresh
    survivors.py --stale WHAT

STUDY is the folder of the study, as `simutant study checker --out STUDY` wrote it. Survivors without a reason come
first, and the exit code is 1 if there are some, or if a reason says of a mutant that is wrong that it cannot be. A reason is
kept by the identities of its mutants, which edits elsewhere do not change: they are made of the function's path, the
changed code, the operator and the replacement. What follows an identity in reasons.toml is for people.

--add writes the survivors without a reason to the end of reasons.toml, for someone to say why; --prune removes the
mutants that do not survive, or are gone. --fresh needs no study: the exit code is 1 if the page is of an oracle, or of
test cases, that were another code. --stale needs none either: if the page is of other code, it gets a sentence at its
head that it is of WHAT, which the next study's page has not. Python 3.11 or newer.
"""

import collections
import hashlib
import itertools
import json
import pathlib
import re
import sqlite3
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
REASONS = HERE / "reasons.toml"
SURVIVORS = HERE / "SURVIVORS.md"
FOLDERS = {"simutant-oracle": HERE.parents[1] / "oracle", "simutant-zookeeper-histories": HERE.parents[1] / "systems/zookeeper/histories"}

VERDICTS = {
    "equivalent": "nothing that the oracle says can differ",
    "cost only": "searches may take more steps, or fewer; what they say can not be wrong",
    "test cases": "it may be wrong, or is not known to be equivalent; the reason says which test cases are missing",
    "corpus": "no test case that is drawn kills it, and a history of the corpus does",
    "not judged": "a run looks at no such thing: numbers beside an answer, memory, words",
    "held elsewhere": "too long for a study; the named test of the oracle fails on it, as was tried",
    "not proven": "the reason is likely, and may have a gap",
}
# A mutant of which one of these is said, and which is killed, shows that the reason is wrong.
HARMLESS = {"equivalent", "cost only", "not judged"}
MISSING = "no reason"

# What parts of the oracle are called, by their files: the first one that fits.
PARTS = [
    ("checks, orders, calls", r"(call|check|order)\.rs"),
    ("states and configurations that it keeps", r"search/store\.rs"),
    ("search", r"search.*"),
    ("fast paths", r"distinct.*"),
    ("explanations", r"explain.*"),
    ("texts", r"specifications/text\.rs"),
    ("ZooKeeper", r"(access|calls|lib|tree|watches)\.rs"),
    ("other specifications", r"specifications/.*"),
]

# How far survivors get, as the study says it and as the table does.
CLASSES = {
    "never-killed": "other cost",
    "not-known": "same so far",
    "never-propagated": "same so far",
    "never-infected": "one value",
    "never-reached": "not reached",
}

HEADER = """\
# Reasons why mutants of the oracle survive, for survivors.py. A mutant is its identity; what follows is for people.
"""


class Mutant:
    """A mutant of the study, and what is known of it."""

    def __init__(self, sites, fields):
        span = fields["span"]
        file = sites["files"][span["file"]]
        self.identity = fields["identity"]
        self.operator = fields["operator"]
        self.path = sites["functions"][fields["function"]]["path"]
        # The dependency's files are in a folder of their own.
        self.file = file["path"].split("src/")[-1]
        self.line = span["line"]
        self.change = change(file["text"].encode(), span, fields["replacement"])
        self.reached = None  # how far it gets, if it survives
        self.is_wrong = False  # whether a test case shows that it is wrong, and not just that it costs more

    @property
    def function(self):
        return self.path.split("::")[-1]

    @property
    def part(self):
        return next(name for name, pattern in PARTS if re.fullmatch(pattern, self.file))

    def __str__(self):
        return f"{self.identity} {self.operator} {self.path}: {self.change}"


def change(text, span, replacement):
    """Returns what a mutant changes, with some code before it if it is short."""
    line = lambda code: re.sub(r"\s+", " ", code.decode() if isinstance(code, bytes) else code).strip()
    original = line(text[span["start"] : span["end"]])
    if not replacement.strip():
        return f"`{cut(original)}` left out"
    replacement = line(replacement)
    # What both begin and end with is shown in part.
    words = [re.findall(r"\w+|\s+|[^\w\s]", code) for code in (original, replacement)]
    first = common(*words)
    last = common(*(side[first:][::-1] for side in words))
    kept = "".join(words[0][:first])
    one, other = ("".join(side[first : len(side) - last]) for side in words)
    before = text[: span["start"]].rsplit(b"\n", 1)[-1].decode().lstrip() + kept
    after = "".join(words[0][len(words[0]) - last :]) if last else ""
    after += text[span["end"] :].split(b"\n", 1)[0].decode()
    before, after = before[-16:].lstrip(), after[:12].rstrip()
    return f"`{cut(before + one + after)}` → `{cut(before + other + after)}`"


def cut(code):
    return code if len(code) <= 72 else code[:71] + "…"


def common(one, other):
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))


def read_study(folder):
    """Returns all mutants by identity, what is said of the study, and how many mutants did not compile."""
    with sqlite3.connect(f"file:{folder}/journal.sqlite?mode=ro", uri=True) as journal:
        (sites,) = journal.execute("SELECT value FROM meta WHERE key = 'sites'").fetchone()
        wrong = "SELECT DISTINCT mutant FROM executions WHERE verdict IN ('failed', 'abnormal')"
        wrong = {number for (number,) in journal.execute(wrong)}
    sites = json.loads(sites)
    texts = {file["path"].split("src/")[-1]: file["text"] for file in sites["files"]}
    for path in mutated():
        name = path.as_posix().split("src/")[-1]
        if texts.get(name, "") not in ("", path.read_text()):
            sys.exit(f"{folder} is a study of another {name}: run it again")
    results = json.loads((folder / "results.json").read_text())
    mutants = {fields["identity"]: Mutant(sites, fields) for fields in sites["mutants"]}
    for number, fields in enumerate(sites["mutants"]):
        mutants[fields["identity"]].is_wrong = number in wrong
    for survivor in results["survivors"]:
        mutants[survivor["identity"]].reached = CLASSES[survivor["class"]]
    return mutants, results["campaign"], len(sites["rejected"])


def read_reasons():
    """Returns the reasons, and for each identity the place of its reason."""
    reasons = tomllib.loads(REASONS.read_text()).get("reason", []) if REASONS.exists() else []
    places = {}
    for place, reason in enumerate(reasons):
        if reason["verdict"] not in VERDICTS and reason["verdict"] != MISSING:
            sys.exit(f"{REASONS.name}: `{reason['verdict']}` is no verdict; these are: {', '.join(VERDICTS)}")
        for mutant in reason["mutants"]:
            identity = mutant.split(" ", 1)[0]
            if identity in places:
                sys.exit(f"{REASONS.name}: {identity} has two reasons")
            places[identity] = place
    return reasons, places


def write_reasons(reasons):
    """Writes the file anew. A JSON string is a TOML one, too."""
    text = [HEADER]
    for reason in reasons:
        quoted = {name: json.dumps(reason[name], ensure_ascii=False) for name in ("verdict", "why")}
        text.append(f"\n[[reason]]\nverdict = {quoted['verdict']}\nwhy = {quoted['why']}\nmutants = [\n")
        text += [f"    {json.dumps(mutant, ensure_ascii=False)},\n" for mutant in reason["mutants"]]
        text.append("]\n")
    REASONS.write_text("".join(text))


def mutated():
    """Returns the files that the study has mutants of."""
    manifest = tomllib.loads((HERE / "Cargo.toml").read_text())["package"]["metadata"]["simutant"]["systems"]["checker"]
    named = manifest["dependencies"].items()
    return sorted({path for package, patterns in named for pattern in patterns for path in FOLDERS[package].glob(pattern)})


def sources():
    """Returns what tells the code of the oracle and of the test cases from others."""
    digest = hashlib.sha256()
    for path in mutated() + sorted((HERE / "src").glob("*.rs")):
        digest.update(path.relative_to(HERE.parents[1]).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def table(header, rows):
    """Returns a table whose columns but the first are numbers."""
    lines = [f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows]) + "\n"


def count(number):
    return f"{number:,}"


def escaped(code):
    return code.replace("|", "\\|")


def rows_of(mutants, said):
    """Returns the rows of a file: mutants of a line that have one reason share one."""
    rows = collections.defaultdict(list)
    for mutant in mutants:
        rows[mutant.line, mutant.function, said(mutant)].append(mutant.change)
    for (line, function, (verdict, why)), changes in sorted(rows.items()):
        times = collections.Counter(changes)
        changes = "; ".join(change + (f" ({n} times)" if n > 1 else "") for change, n in times.items())
        yield f"| `{function}` | {line} | {escaped(changes)} | {verdict} | {escaped(why)} |"


STALE = "**This page is of"

INTRODUCTION = """\
# Survivors of the study of the oracle

`survivors.py` writes this page from a study and from the reasons in [reasons.toml](reasons.toml): change these, and not
the page. [How the study is run](README.md#what-a-study-says).

{cases} test cases kill {killed} of {mutants} mutants, and {survive} survive; {rejected} more do not compile. The code of
the oracle and of the test cases is `{sources}`: `survivors.py --fresh` says whether it is that of now.
"""

COUNTED = """
*Other cost*: searches take another number of steps in some test case, and all that they say is right. *Same so far*: the
changed code computes something else in some test case, or may do so, and no search differs. *One value*: the changed
expression has the value of the original in all test cases. *Not reached*: no test case gets there. A mutant that costs
something else need not be right. Most reasons were found by reading, and few of them are proofs.
"""


def page(mutants, campaign, rejected, said):
    """Returns the text of SURVIVORS.md."""
    survivors = [mutant for mutant in mutants.values() if mutant.reached]
    unsaid = [mutant for mutant in survivors if said(mutant)[0] == MISSING]
    numbers = {
        "cases": campaign["cases"],
        "killed": len(mutants) - len(survivors),
        "mutants": len(mutants),
        "survive": len(survivors),
        "rejected": rejected,
    }
    numbers = {name: count(number) for name, number in numbers.items()}
    text = [INTRODUCTION.format(sources=sources(), **numbers)]
    if unsaid:
        text.append(f"\n## Without a reason: {count(len(unsaid))}\n\n")
        text += [f"- {mutant.file}:{mutant.line} {mutant}\n" for mutant in unsaid]
    text.append("\n## Counts\n\n")
    names = list(VERDICTS) + [MISSING] * bool(unsaid)
    of_verdict = collections.Counter(said(mutant)[0] for mutant in survivors)
    text.append("| verdict | mutants | what it says |\n| --- | ---: | --- |\n")
    text += [f"| {name} | {count(of_verdict[name])} | {VERDICTS.get(name, '')} |\n" for name in names]
    text.append(f"| **all** | **{count(len(survivors))}** | |\n\n")

    parts = {name: [mutant for mutant in survivors if mutant.part == name] for name, _ in PARTS}
    of_part = collections.Counter(mutant.part for mutant in mutants.values())
    with_sums = list(parts.items()) + [("**all**", survivors)]
    rows = []
    for name, of in with_sums:
        counts = [sum(said(mutant)[0] == verdict for mutant in of) for verdict in names]
        rows.append([name, *map(count, [*counts, len(of)])])
    text.append(table(["code", *names, "all"], rows) + "\n")
    reached = list(dict.fromkeys(CLASSES.values()))
    rows = []
    for name, of in with_sums:
        there = of_part.get(name, len(mutants))
        counts = [sum(mutant.reached == how for mutant in of) for how in reached]
        rows.append([name, *map(count, [there, there - len(of), *counts])])
    text.append(table(["code", "mutants", "killed", *reached], rows) + COUNTED)

    of_file = collections.defaultdict(list)
    for mutant in survivors:
        of_file[mutant.file].append(mutant)
    columns = "| function | line | change | verdict | why |\n| --- | ---: | --- | --- | --- |\n"
    for file, of in sorted(of_file.items()):
        text.append(f"\n## `{file}`\n\n{columns}")
        text += [row + "\n" for row in rows_of(of, said)]
    return "".join(text)


def marked(text, what):
    """Returns the page with a sentence at its head that it is of other code than that of now."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(STALE)]
    title = next(place for place, line in enumerate(lines) if line.startswith("# "))
    # The blank line after the sentence is gone with it, and comes again with a new one.
    rest = "".join(lines[title + 1 :]).lstrip("\n")
    return f"{''.join(lines[: title + 1])}\n{STALE} {what}, and the counts below are, too.**\n\n{rest}"


def main(arguments):
    folders = [argument for argument in arguments if not argument.startswith("--")]
    options = set(arguments) - set(folders)
    if arguments == ["--fresh"]:
        if f"`{sources()}`" not in SURVIVORS.read_text():
            sys.exit(f"{SURVIVORS.name} is of other code: run the study, and then {pathlib.Path(__file__).name}")
        return
    if arguments[:1] == ["--stale"] and len(arguments) == 2:
        if f"`{sources()}`" not in SURVIVORS.read_text():
            SURVIVORS.write_text(marked(SURVIVORS.read_text(), arguments[1]))
        return
    if len(folders) != 1 or options - {"--add", "--prune"}:
        sys.exit(__doc__)
    mutants, campaign, rejected = read_study(pathlib.Path(folders[0]))
    reasons, places = read_reasons()
    survives = lambda identity: identity in mutants and mutants[identity].reached is not None
    unsaid = [mutant for mutant in mutants.values() if mutant.reached and mutant.identity not in places]
    is_wrong = lambda identity, place: (
        identity in mutants and mutants[identity].is_wrong and reasons[place]["verdict"] in HARMLESS
    )
    wrong = [mutants[identity] for identity, place in places.items() if is_wrong(identity, place)]
    idle = [identity for identity in places if not survives(identity)]

    if "--prune" in options:
        for reason in reasons:
            reason["mutants"] = [mutant for mutant in reason["mutants"] if survives(mutant.split(" ", 1)[0])]
        reasons = [reason for reason in reasons if reason["mutants"]]
    if "--add" in options:
        reasons += [{"verdict": MISSING, "why": "", "mutants": [str(mutant)]} for mutant in unsaid]
    if options:
        write_reasons(reasons)
        reasons, places = read_reasons()

    def said(mutant):
        place = places.get(mutant.identity)
        return (MISSING, "") if place is None else (reasons[place]["verdict"], reasons[place]["why"])

    SURVIVORS.write_text(page(mutants, campaign, rejected, said))
    survivors = [mutant for mutant in mutants.values() if mutant.reached]
    unsaid = [mutant for mutant in survivors if said(mutant)[0] == MISSING]
    print(f"{len(mutants)} mutants, {len(survivors)} survive, {len(unsaid)} of them without a reason")
    for mutant in unsaid:
        print(f"no reason: {mutant.file}:{mutant.line} {mutant}")
    for mutant in wrong:
        print(f"killed, and said to be harmless: {mutant.file}:{mutant.line} {mutant}")
    if idle and "--prune" not in options:
        print(f"{len(idle)} mutants of {REASONS.name} do not survive, or are gone: --prune removes them")
    sys.exit(1 if unsaid or wrong else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
