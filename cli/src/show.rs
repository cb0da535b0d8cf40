//! `simutant show`: what a study, an experiment or a comparison of sources found, a section at a time.

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use simutant_report::sections;

use crate::arguments::{Common, ShowArguments};
use crate::exit::{BadInput, Exit};
use crate::output;

/// The files that have sections, and what goes before the names of these.
const FILES: [(&str, &str); 3] = [("tables.txt", ""), ("experiment.txt", "experiment-"), ("sources.txt", "sources-")];

/// How wide the list of sections is.
const WIDTH: usize = 80;

/// A section of a result.
#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    /// Its first line.
    title: String,
    text: String,
}

/// What `--json` prints of all sections.
#[derive(Debug, Serialize)]
struct Sections {
    sections: Vec<Shown>,
}

pub(crate) fn run(arguments: &ShowArguments, common: &Common) -> anyhow::Result<Exit> {
    let out = &arguments.folder;
    let all = read(out)?;
    let Some(name) = &arguments.section else {
        let list = listing(&all);
        let as_json = || output::json(&output::Versioned::new(Sections { sections: all }));
        output::print(&if common.json { as_json()? } else { list })?;
        return Ok(Exit::Success);
    };
    let Some(section) = all.iter().find(|section| section.name == *name) else {
        let names: Vec<&str> = all.iter().map(|section| section.name.as_str()).collect();
        let meant = output::did_you_mean(name, names.iter().copied());
        let message =
            format!("{}: there is no section `{name}`{meant}; there are: {}", out.display(), names.join(", "));
        return Err(BadInput(message).into());
    };
    let as_json = || output::json(&output::Versioned::new(section));
    output::print(&if common.json { as_json()? } else { format!("{}\n", section.text) })?;
    Ok(Exit::Success)
}

/// Reads the sections of all results in a folder.
fn read(out: &Path) -> Result<Vec<Shown>, BadInput> {
    let mut all = Vec::new();
    for (file, prefix) in FILES {
        let path = out.join(file);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            read => read.map_err(|error| BadInput(format!("{}: {error}", path.display())))?,
        };
        let of_file = sections(&text);
        if of_file.is_empty() {
            let message = format!("{}: it is of an earlier release: the same command writes it anew", path.display());
            return Err(BadInput(message));
        }
        all.extend(of_file.into_iter().map(|section| Shown {
            name: format!("{prefix}{}", section.name),
            title: section.title().to_owned(),
            text: section.text.to_owned(),
        }));
    }
    if all.is_empty() {
        let message =
            format!("{}: there is no result to show; `study`, `experiment` and `sources` write one", out.display());
        return Err(BadInput(message));
    }
    Ok(all)
}

fn listing(all: &[Shown]) -> String {
    let width = all.iter().map(|section| section.name.len()).max().unwrap_or_default();
    let room = WIDTH.saturating_sub(width + 2);
    let line = |Shown { name, title, .. }: &Shown| match title.char_indices().nth(room) {
        None => format!("{name:<width$}  {title}\n"),
        Some(_) => {
            let beginning: String = title.chars().take(room.saturating_sub(2)).collect();
            format!("{name:<width$}  {} …\n", beginning.trim_end())
        }
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_all_files_are_found_by_their_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = read(folder.path()).expect_err("nothing is there");
        assert!(
            error.0.ends_with("there is no result to show; `study`, `experiment` and `sources` write one"),
            "{}",
            error.0
        );
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("there is room");
        write("tables.txt", "# summary\nRun it.\n\n# boosting\n\nBoosting\n row\n");
        write("experiment.txt", "# boosting\nExperiment 2\n");
        let all = read(folder.path()).expect("there are sections");
        let expect = "summary              Run it.\nboosting             Boosting\nexperiment-boosting  Experiment 2\n";
        assert_eq!(listing(&all), expect);
        assert_eq!(all[1].text, "Boosting\n row");
    }
}
