//! `simutant explore`: the state space of a net, and the tests that follow from it.

mod text;

use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;
use simutant_nets::exploring::{Explored, ExploringReply, ExploringRequest, NamedTests, Task};
use simutant_study::{NetProgram, NetRequest, ProgramError};

use crate::arguments::{Common, ExploreArguments};
use crate::exit::{BadInput, Exit};
use crate::output;
use crate::progress::ProgressPhase;
use crate::stages::CompilerMessage;

/// How many markings a state space has at most that is drawn: with more, no line is told from others.
const DRAWN_MAX: usize = 400;

/// What `--json` prints of runs.
#[derive(Debug, Serialize)]
struct Simulated<'a> {
    net: &'a str,
    runs: usize,
    seed: u64,
    endless: usize,
    /// How many test cases there are.
    test_cases: usize,
}

pub(crate) fn run(arguments: &ExploreArguments, common: &Common) -> anyhow::Result<Exit> {
    let (program, given) = program(arguments)?;
    let task = match arguments.simulate {
        Some(runs) => Task::Simulate { runs: runs.get(), seed: common.seed, steps: arguments.steps.get() },
        None => Task::Explore {
            tests: arguments.tests.is_some(),
            drawn: if arguments.picture.is_some() { DRAWN_MAX } else { 0 },
        },
    };
    let markings = arguments.markings.map(std::num::NonZeroUsize::get);
    let request = ExploringRequest { arguments: given, markings, bytes: Some(arguments.memory), task };
    let phase = ProgressPhase::open(if arguments.simulate.is_some() { "simulate" } else { "explore" });
    let reply = program.ask(&request)?;
    phase.end(&arguments.net);
    match reply {
        ExploringReply::Explored(explored) => done(arguments, common, *explored),
        ExploringReply::Simulated(tests) => {
            let runs = arguments.simulate.map_or(0, std::num::NonZeroUsize::get);
            write_tests(arguments, &tests)?;
            output::print(&if common.json {
                let NamedTests { net, endless, cases, .. } = &tests;
                let simulated = Simulated { net, runs, seed: common.seed, endless: *endless, test_cases: cases.len() };
                output::json(&output::Versioned::new(simulated))?
            } else {
                text::simulated(&tests, runs)
            })?;
            Ok(Exit::Success)
        }
        ExploringReply::Arguments { message } => {
            Err(BadInput(format!("{}: {message}; the arguments follow the name of the net", arguments.net)).into())
        }
        ExploringReply::Mistake { message } => Err(BadInput(message).into()),
        ExploringReply::TooLarge { message } => {
            let cure = "--memory and --markings say how large it may be; --simulate makes test cases of random runs";
            output::tell(&format!("{}: {message}\n{cure}", arguments.net));
            Ok(Exit::Inconclusive)
        }
    }
}

/// Writes and prints what was found out.
fn done(arguments: &ExploreArguments, common: &Common, mut explored: Explored) -> anyhow::Result<Exit> {
    if let Some(file) = &arguments.picture {
        file.write(&explored)?;
    }
    if let Some(file) = &arguments.net_picture {
        file.write(&explored.structure)?;
    }
    if let Some(tests) = &explored.tests {
        write_tests(arguments, tests)?;
    }
    let exit = if explored.properties.iter().any(|property| property.witness.is_some()) {
        Exit::Failed
    } else {
        Exit::Success
    };
    output::print(&if common.json {
        explored.drawing = None;
        output::json(&output::Versioned::new(explored))?
    } else {
        text::explored(&explored, common.verbose)
    })?;
    Ok(exit)
}

fn write_tests(arguments: &ExploreArguments, tests: &NamedTests) -> anyhow::Result<()> {
    match &arguments.tests {
        Some(file) => output::write_named(file, output::json(tests)?.as_bytes()),
        None => Ok(()),
    }
}

/// Builds the program of the net that a package has, and returns it with the arguments of the net.
fn program(arguments: &ExploreArguments) -> anyhow::Result<(NetProgram, Vec<Json>)> {
    let name = &arguments.net;
    if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pnml")) {
        return Err(BadInput(format!("{name}: files of nets cannot be read yet")).into());
    }
    let request = NetRequest { name: name.clone(), manifest_path: arguments.manifest_path.clone() };
    let found = match request.find() {
        Ok(found) => found,
        Err(error @ (ProgramError::Unknown { .. } | ProgramError::NoPackage { .. } | ProgramError::Metadata(_))) => {
            return Err(BadInput(unknown(name, &error)).into());
        }
        Err(error) => return Err(error.into()),
    };
    let given = if arguments.arguments.is_empty() {
        found.arguments().to_vec()
    } else {
        // What is no JSON is a word.
        let value = |word: &String| serde_json::from_str(word).unwrap_or_else(|_| Json::String(word.clone()));
        arguments.arguments.iter().map(value).collect()
    };
    let phase = ProgressPhase::build();
    let what = format!("the net {name}");
    let mut message = CompilerMessage::new(&what);
    let program = found.build(&mut |event| message.show(&phase, event))?;
    phase.end(&what);
    Ok((program, given))
}

/// Says that nobody has the net, and which one may be meant.
fn unknown(name: &str, error: &ProgramError) -> String {
    let (of_package, own) = match error {
        ProgramError::Unknown { known, own, .. } => (known.as_slice(), own.as_slice()),
        ProgramError::NoPackage { own } => (&[][..], own.as_slice()),
        _ => Default::default(),
    };
    let meant = output::did_you_mean(name, of_package.iter().chain(own).map(String::as_str));
    let simutants = match own {
        [] => String::new(),
        own => format!("; Simutant has {}", own.join(", ")),
    };
    format!("{name}: {error}{simutants}{meant}")
}
