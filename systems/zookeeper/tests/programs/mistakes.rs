//! The mistakes of simulated ZooKeepers: each can be made in the source as it is, and can be named in an experiment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    description: String,
    file: String,
    code: String,
    mistake: String,
}

fn mistakes() -> BTreeMap<String, Mistake> {
    let text = read(&implementations().join("zookeeper-mistakes/mistakes.toml"));
    toml::from_str(&text).expect("its fields are those that `build.py` reads")
}

fn implementations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_mistake_takes_the_place_of_code_that_is_there_once() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (name, Mistake { file, code, mistake, .. }) in mistakes() {
        // As TOML has it, and Python: what is on lines of its own begins with the line after the quotes.
        assert_eq!(read(&source.join(&file)).matches(&code).count(), 1, "{name}: {code:?} in {file}");
        assert_ne!(code, mistake, "{name}");
    }
}

#[test]
fn each_mistake_has_an_implementation_with_its_description() {
    let mistakes = mistakes();
    for (name, Mistake { description, .. }) in &mistakes {
        let text = read(&implementations().join(format!("zookeeper-{name}.toml")));
        let file: toml::Table = text.parse().expect("it is TOML");
        assert_eq!(file["name"].as_str(), Some(&*format!("zookeeper-{name}")));
        assert_eq!(file["description"].as_str(), Some(&*format!("Simulated ZooKeeper; {description}")));
        assert_eq!(file["build"][2].as_str(), Some(&**name));
    }
    let files = std::fs::read_dir(implementations()).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be listed").path());
    let made = paths.filter(|path| path.is_file() && read(path).contains("zookeeper-mistakes/build.py"));
    assert_eq!(made.count(), mistakes.len());
}
