//! `simutant init`: a first system in a user's own package.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use simutant_engine_source::{Engine, vendored};
use simutant_mutator::{EngineSource, InitRequest, Initialised, SystemTemplate, init};
use simutant_study::nearest_manifest;

use crate::arguments::{Common, InitArguments};
use crate::exit::{BadInput, Exit};
use crate::output;

/// The folder in the workspace for the engine's source.
const VENDORED: &str = "third_party/simutant";

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Made {
    system: String,
    written: Vec<PathBuf>,
    changed: Vec<Changed>,
    /// The folder outside of the workspace that has the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_outside: Option<PathBuf>,
    next: String,
}

#[derive(Debug, Serialize)]
struct Changed {
    path: PathBuf,
    added: Vec<String>,
}

pub(crate) fn run(arguments: &InitArguments, common: &Common) -> anyhow::Result<Exit> {
    let manifest = match &arguments.manifest_path {
        Some(manifest) => manifest.clone(),
        None => nearest_manifest().ok_or_else(|| {
            let message =
                "no package: there is no Cargo.toml in this folder or above; `cargo new --lib NAME` makes one";
            BadInput(message.to_owned())
        })?,
    };
    let made = make(arguments, &manifest)?;
    let next = next(arguments, &made);
    if common.json {
        let changed = made.changed.into_iter().map(|(path, added)| Changed { path, added }).collect();
        let made = Made { system: made.system, written: made.written, changed, engine_outside: made.outside, next };
        output::print(&output::json(&output::Versioned::new(made))?)?;
    } else {
        output::print(&told(&made, arguments, &next))?;
    }
    Ok(Exit::Success)
}

fn make(arguments: &InitArguments, manifest: &Path) -> anyhow::Result<Initialised> {
    let template = match () {
        () if arguments.machine => SystemTemplate::Machine,
        () if arguments.net => SystemTemplate::Net,
        () if arguments.http => SystemTemplate::Http,
        () => SystemTemplate::Parameters,
    };
    let made = |engine| init(&InitRequest { manifest, name: arguments.name.as_deref(), template, engine });
    let files: Vec<_> = vendored().map(|file| (file.path, file.bytes)).collect();
    let made = match (arguments.vendor, arguments.no_vendor) {
        (true, _) => made(EngineSource::Vendored(&files)),
        (false, true) => made(EngineSource::Folder(Engine::own()?.root())),
        (false, false) => made(EngineSource::Shared { folder: Engine::own()?.root(), files: &files }),
    };
    made.context("nothing was made")
}

/// Returns the command that comes next.
fn next(arguments: &InitArguments, made: &Initialised) -> String {
    let (program, system) = (output::program(), &made.system);
    let command = match () {
        () if made.is_http => "http",
        () if arguments.net => "explore",
        () => "study",
    };
    let manifest = arguments.manifest_path.as_ref();
    let manifest = manifest.map(|path| format!(" --manifest-path {}", output::quoted(&path.display().to_string())));
    let url = if made.is_http { " http://127.0.0.1:8000" } else { "" };
    format!("{program} {command} {system}{url}{}", manifest.unwrap_or_default())
}

/// Says what was made, and why the engine's source was written, if nobody asked for that.
fn told(made: &Initialised, arguments: &InitArguments, next: &str) -> String {
    let explains = !arguments.vendor;
    let folder = std::env::current_dir().ok().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default();
    let shown = |path: &Path| path.strip_prefix(&folder).unwrap_or(path).display().to_string();
    let mut text = String::new();
    for path in &made.written {
        text.push_str(&format!("written {}\n", shown(path)));
    }
    for (path, added) in &made.changed {
        text.push_str(&format!("changed {}: {}\n", shown(path), added.join(", ")));
    }
    if let Some(copy) = made.written.iter().find(|path| explains && path.ends_with(VENDORED)) {
        text.push_str(&format!(
            "note: {} is the engine's source, so that colleagues and CI can build the package with cargo alone; `{} init \
             --no-vendor` depends on a folder of this machine instead\n",
            shown(copy),
            output::program(),
        ));
    }
    if let Some(outside) = &made.outside {
        text.push_str(&format!(
            "note: the engine is a folder of this machine: for colleagues and CI, `{} init --vendor` puts its source into the package ({})\n",
            output::program(),
            outside.display(),
        ));
    }
    let server = format!("finds what is wrong with `python3 implementations/{}/server.py 8000`", made.system);
    let finds = match () {
        () if made.is_http => &server,
        () if arguments.net => "shows what the net can do",
        () => "finds out which inputs are worth running",
    };
    text.push_str(&format!("next: {next} {finds}"));
    if let Some(begin) = &made.begin {
        text.push_str(&format!("; the first lines of {} say how to make the system yours", shown(begin)));
    }
    text + "\n"
}
