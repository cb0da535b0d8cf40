"""Says which share of the lines of real programs is covered by what ran.

    coverage.py TOOLS PROGRAM,PROGRAM RUN=FOLDER... ROW=FILE,FILE[:FUNCTION,FUNCTION]...

TOOLS is the folder with `llvm-profdata` and `llvm-cov` (`rustup component add llvm-tools` puts them into
`$(rustc --print sysroot)/lib/rustlib/HOST/bin`). The PROGRAMs are built so that a profile survives SIGKILL, since each
count is in a file that is mapped into memory:

    export RUSTFLAGS="-C instrument-coverage -C llvm-args=-runtime-counter-relocation"
    cargo build --release --bins --target-dir DIR

and run as `env LLVM_PROFILE_FILE=FOLDER/%c%p.profraw PROGRAM ...` in the file of an implementation: FOLDER is that of a
RUN, a column of the table. A ROW has the lines of files, or of the functions with these names in them; `*` in a file
stands for anything.
"""

import collections
import fnmatch
import glob
import re
import subprocess
import sys


def covered(tools, programs, folder):
    """Returns how often each line of each file was run."""
    with open(f"{folder}/files", "w") as file:
        file.write("\n".join(glob.glob(f"{folder}/*.profraw")))
    merged = f"{folder}/merged.profdata"
    subprocess.run([f"{tools}/llvm-profdata", "merge", "-sparse", "--failure-mode=all", "-f", f"{folder}/files", "-o", merged], check=True)
    objects = [programs[0]] + [option for program in programs[1:] for option in ("-object", program)]
    export = [f"{tools}/llvm-cov", "export", "-format=lcov", f"-instr-profile={merged}", *objects]
    report = subprocess.run(export, check=True, capture_output=True, text=True).stdout
    counts = collections.defaultdict(dict)
    for line in report.splitlines():
        if line.startswith("SF:"):
            file = line[3:]
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            counts[file][int(number)] = counts[file].get(int(number), 0) + int(count)
    return counts


def lines_of(file, functions):
    """Returns the numbers of the lines of functions, each of which ends in a brace below its first letter."""
    lines, end = set(), None
    with open(file) as source:
        for number, line in enumerate(source, 1):
            begin = re.match(r"( *)(pub(\(\w+\))? )?fn (\w+)", line)
            if end is None and begin and begin[4] in functions:
                end = begin[1] + "}"
            if end is not None:
                lines.add(number)
            if end is not None and line.rstrip() == end:
                end = None
    return lines


def main(tools, programs, arguments):
    runs = [argument.split("=") for argument in arguments if ".rs" not in argument]
    rows = [argument.split("=") for argument in arguments if ".rs" in argument]
    columns = [covered(tools, programs.split(","), folder) for _, folder in runs]
    print("| lines of |", " | ".join(name for name, _ in runs), "|")
    for name, what in rows:
        patterns, _, functions = what.partition(":")
        cells = []
        for counts in columns:
            files = [file for file in counts if any(fnmatch.fnmatch(file, f"*{end}") for end in patterns.split(","))]
            of = lambda file: lines_of(file, functions.split(",")) if functions else counts[file]
            found = [count > 0 for file in files for number, count in counts[file].items() if number in of(file)]
            cells.append(f"{100 * sum(found) / len(found):.1f} % of {len(found)}")
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
