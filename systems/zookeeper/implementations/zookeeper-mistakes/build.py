"""Builds a simulated ZooKeeper that has a mistake.

    build.py MISTAKE BUILD

The source of the simulation is copied into the folder BUILD, with the mistake of that name in
mistakes.toml, and driver.rs makes a program of it: BUILD/zookeeper. Python 3.11 or newer.
"""

import pathlib
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = HERE.parents[1]
ROOT = HERE.parents[3]

# The project's lock file goes with it, so that versions of dependencies are the project's.
MANIFEST = """
[package]
name = "{mistake}"
edition = "2024"
[workspace]
[lib]
name = "zookeeper"
[features]
testbed = []
[dependencies]
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
simutant-models = {{ path = "{root}/models" }}
simutant-oracle = {{ path = "{root}/oracle" }}
simutant-sim-core = {{ path = "{root}/sim-core" }}
simutant-system = {{ path = "{root}/systems/system" }}
simutant-zookeeper-histories = {{ path = "{root}/systems/zookeeper/histories" }}
"""


def main(mistake, build):
    folder = pathlib.Path(build).resolve() / "package"
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "src"
    shutil.copytree(SYSTEM / "src", source, ignore=shutil.ignore_patterns("bin", "testbed*"))
    shutil.copy(HERE / "driver.rs", source / "main.rs")
    shutil.copy(ROOT / "Cargo.lock", folder)
    (folder / "Cargo.toml").write_text(MANIFEST.format(mistake=mistake, root=ROOT))
    make(mistake, source)
    # All mistakes share what they depend on.
    target = ROOT / "target/zookeeper-mistakes"
    subprocess.run(["cargo", "build", "--quiet", "--release", "--target-dir", target], cwd=folder, check=True)
    shutil.copy(target / "release" / mistake, folder.parent / "zookeeper")


def make(name, source):
    """Makes a mistake in a copy of the source."""
    mistake = tomllib.loads((HERE / "mistakes.toml").read_text())[name]
    path, code = source / mistake["file"], mistake["code"]
    text = path.read_text()
    if text.count(code) != 1:
        sys.exit(f"{name}: the code is {text.count(code)} times in {mistake['file']}, and not once: {code.strip()}")
    path.write_text(text.replace(code, mistake["mistake"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
