//! `simutant export`: a finished study in the formats of other tools.

use std::path::{Path, PathBuf};

use serde::Serialize;
use simutant_analysis::Study;
use simutant_exports::{ExportedFile, Root, elements, junit, sarif, tables, test_code};
use simutant_outcomes::Suite;
use simutant_report::plots;
use simutant_study::FinishedStudy;

use crate::arguments::{Common, ExportArguments, FormatArgument};
use crate::exit::{BadInput, Exit, with_options};
use crate::output;

/// The folder in that of a study that exports are written to.
const FOLDER: &str = "export";

/// Digits after the point in tables for papers.
const DECIMALS: usize = 3;

/// What a format gives.
enum Exported {
    File(ExportedFile),
    /// Files for a folder of this name.
    Folder(&'static str, Vec<ExportedFile>),
}

#[derive(Debug, Serialize)]
struct Written<'a> {
    system: &'a str,
    /// Those that were written.
    files: Vec<PathBuf>,
    /// Those that are the user's, and were left as they are.
    kept: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &ExportArguments, common: &Common) -> anyhow::Result<Exit> {
    if arguments.to.is_some() && arguments.format.len() > 1 {
        let message = "--to is for one --format; without it each has its own place in the folder of the study";
        return Err(BadInput(message.to_owned()).into());
    }
    let out = common.out(&arguments.system);
    let finished = FinishedStudy::read(&out).map_err(with_options)?;
    if finished.outcomes.system != arguments.system {
        let message = format!("the study in {} is of {}", out.display(), finished.outcomes.system);
        return Err(BadInput(message).into());
    }
    let study = finished.study();
    let root = Root::new(&arguments.source_root);
    let mut written = Written { system: &arguments.system, files: Vec::new(), kept: Vec::new() };
    for &format in &arguments.format {
        let (folder, files) = match export(&study, &finished, &root, format)? {
            Exported::File(file) => {
                let path = arguments.to.clone().unwrap_or_else(|| out.join(FOLDER).join(&file.name));
                output::write_named(&path, &file.bytes)?;
                written.files.push(path);
                continue;
            }
            Exported::Folder(name, files) => {
                (arguments.to.clone().unwrap_or_else(|| out.join(FOLDER).join(name)), files)
            }
        };
        for file in &files {
            write(&folder.join(&file.name), file, &mut written)?;
        }
    }
    let said = if common.json { output::json(&output::Versioned::new(&written))? } else { text(&written) };
    if arguments.to.as_deref().is_some_and(output::is_special) {
        // What was written may be on its way to another program through the standard output.
        output::tell(said.trim_end());
    } else {
        output::print(&said)?;
    }
    Ok(Exit::Success)
}

fn write(path: &Path, file: &ExportedFile, written: &mut Written<'_>) -> anyhow::Result<()> {
    if file.is_template && path.exists() {
        written.kept.push(path.to_owned());
        return Ok(());
    }
    output::write_named(path, &file.bytes)?;
    written.files.push(path.to_owned());
    Ok(())
}

fn export(
    study: &Study<'_>,
    finished: &FinishedStudy,
    root: &Root,
    format: FormatArgument,
) -> anyhow::Result<Exported> {
    let (simulated, reference) = (finished.simulated.as_ref(), finished.reference.as_ref());
    let file = |name: &str, text: String| Exported::File(ExportedFile::new(name, text));
    let named = |name: &str, extension: &str, bytes: Vec<u8>| ExportedFile::new(format!("{name}.{extension}"), bytes);
    Ok(match format {
        FormatArgument::Junit => file("mutants.junit.xml", junit::study(study, root).to_xml()),
        FormatArgument::Sarif => file("mutants.sarif", sarif::sarif(study, root)),
        FormatArgument::MutationElements => file("mutation.json", elements::elements(study, root)),
        FormatArgument::Libtest => Exported::Folder("libtest", test_code::libtest(suite(study)?, simulated)),
        FormatArgument::Pytest => Exported::Folder("pytest", test_code::pytest(suite(study)?, simulated)),
        FormatArgument::Csv => {
            let tables = tables::tables(study).into_iter();
            Exported::Folder("csv", tables.map(|table| named(table.name, "csv", table.to_csv().into())).collect())
        }
        FormatArgument::Parquet => {
            let tables = tables::tables(study).into_iter();
            Exported::Folder("parquet", tables.map(|table| named(table.name, "parquet", table.to_parquet())).collect())
        }
        FormatArgument::Latex => {
            let tables = tables::tables_for_paper(study).into_iter();
            Exported::Folder(
                "latex",
                tables.map(|table| named(table.name, "tex", table.to_latex(DECIMALS).into())).collect(),
            )
        }
        FormatArgument::Svg => {
            let plots = plots(study, reference).into_iter();
            Exported::Folder("svg", plots.map(|plot| named(&plot.name, "svg", plot.svg.into())).collect())
        }
    })
}

fn suite<'a>(study: &Study<'a>) -> Result<&'a Suite, BadInput> {
    let why = match study.analysis.is_undecided() {
        true => "no mutant tells the criteria apart",
        false => "no criterion has a requirement that a test case covers",
    };
    study.suite.ok_or_else(|| BadInput(format!("the study has no suite, since {why}")))
}

fn text(written: &Written<'_>) -> String {
    let mut text = String::new();
    for path in &written.files {
        text.push_str(&format!("written {}\n", path.display()));
    }
    for path in &written.kept {
        text.push_str(&format!("kept    {}, which is yours\n", path.display()));
    }
    text
}
