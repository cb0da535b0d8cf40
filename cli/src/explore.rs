//! `simutant explore`: the state space of a net, and the tests that follow from it.

mod tests;
mod text;

use std::num::NonZeroUsize;
use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;
use simutant_nets::Budget;
use simutant_nets::exploring::{Explored, ExploringReply, ExploringRequest, NamedTests, Task, refusal};
use simutant_pnml::PnmlNet;
use simutant_study::{NamedRequest, NetProgram, PackageNet, ProgramError};

use self::tests::TestFile;
use crate::arguments::{Common, ExploreArguments};
use crate::exit::{BadInput, Exit};
use crate::output;
use crate::progress::ProgressPhase;
use crate::stages::built;

/// How many markings a state space has at most that is drawn: with more, no line is told from others.
pub(crate) const DRAWN_MAX: usize = 400;

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
    let file = Path::new(&arguments.net);
    let tests = TestFile::asked(arguments)?;
    let reply = if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pnml")) {
        explore_file(file, arguments)?
    } else {
        if arguments.unfolded.is_some() {
            return Err(BadInput("--unfolded: goes with a file in PNML".to_owned()).into());
        }
        ask(arguments, common)?
    };
    match reply {
        ExploringReply::Explored(explored) => done(arguments, common, tests.as_ref(), *explored),
        ExploringReply::Simulated(found) => {
            let runs = arguments.simulate.map_or(0, NonZeroUsize::get);
            if let Some(file) = tests {
                file.write(&found)?;
            }
            output::print(&if common.json {
                let NamedTests { net, endless, cases, .. } = &found;
                let simulated = Simulated { net, runs, seed: common.seed, endless: *endless, test_cases: cases.len() };
                output::json(&output::Versioned::new(simulated))?
            } else {
                text::simulated(&found, runs)
            })?;
            Ok(Exit::Success)
        }
        ExploringReply::Arguments { message } => {
            Err(BadInput(format!("{}: {message}; the arguments follow the name of the net", arguments.net)).into())
        }
        ExploringReply::Mistake { message } => Err(BadInput(message).into()),
        ExploringReply::Exhausted { message } => {
            output::tell(&format!("{}: {message}", arguments.net));
            output::tell("--memory and --markings say how large it may be");
            Ok(Exit::Inconclusive)
        }
        ExploringReply::TooLarge { message } => {
            output::tell(&format!("{}: {message}", arguments.net));
            Ok(Exit::Inconclusive)
        }
    }
}

/// Explores the net in a file.
fn explore_file(file: &Path, arguments: &ExploreArguments) -> anyhow::Result<ExploringReply> {
    let named = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", file.display()));
    if let Some(option) = [
        (!arguments.arguments.is_empty()).then_some("argument"),
        arguments.simulate.map(|_| "--simulate"),
        arguments.tests.as_ref().map(|_| "--tests"),
        arguments.manifest_path.as_ref().map(|_| "--manifest-path"),
    ]
    .into_iter()
    .flatten()
    .next()
    {
        return Err(named(&format!("a file says nothing of stimuli and observations, and takes no {option}")).into());
    }
    let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
    let net = PnmlNet::read(&text).map_err(|error| named(&error))?;
    let unfolded = net.unfold().map_err(|error| named(&error))?;
    if let Some(path) = &arguments.unfolded {
        output::write_named(path, unfolded.to_net().to_pnml().as_bytes())?;
    }
    let phase = ProgressPhase::open("explore");
    let budget = Budget { markings: arguments.markings.map(NonZeroUsize::get), bytes: Some(arguments.memory) };
    let reply = match unfolded.explore(&budget) {
        Ok(mut space) => ExploringReply::Explored(Box::new(space.explored(drawn(arguments)))),
        Err(error) => refusal(&error),
    };
    phase.end(&arguments.net);
    Ok(reply)
}

/// Asks the program of a package's net.
fn ask(arguments: &ExploreArguments, common: &Common) -> anyhow::Result<ExploringReply> {
    let (program, given) = program(arguments)?;
    let task = match arguments.simulate {
        Some(runs) => Task::Simulate { runs: runs.get(), seed: common.seed, steps: arguments.steps.get() },
        None => Task::Explore { tests: arguments.tests.is_some(), drawn: drawn(arguments) },
    };
    let markings = arguments.markings.map(NonZeroUsize::get);
    let request = ExploringRequest { arguments: given, markings, bytes: Some(arguments.memory), task };
    let phase = ProgressPhase::open(if arguments.simulate.is_some() { "simulate" } else { "explore" });
    let mut reply = program.ask(&request)?;
    if let ExploringReply::Exhausted { message } | ExploringReply::TooLarge { message } = &mut reply
        && arguments.simulate.is_none()
    {
        message.push_str("; --simulate makes test cases of random runs");
    }
    phase.end(&arguments.net);
    Ok(reply)
}

/// Returns how many markings a state space has at most that is drawn.
const fn drawn(arguments: &ExploreArguments) -> usize {
    if arguments.picture.is_some() { DRAWN_MAX } else { 0 }
}

/// Writes and prints what was found out.
fn done(
    arguments: &ExploreArguments,
    common: &Common,
    tests: Option<&TestFile>,
    mut explored: Explored,
) -> anyhow::Result<Exit> {
    if let Some(file) = &arguments.picture {
        file.write(&explored)?;
    }
    if let Some(file) = &arguments.net_picture {
        file.write(&explored.structure)?;
    }
    if let (Some(file), Some(found)) = (tests, &explored.tests) {
        file.write(found)?;
    }
    let is_broken = explored.properties.iter().any(|property| property.witness.is_some());
    output::print(&if common.json {
        explored.drawing = None;
        output::json(&output::Versioned::new(explored))?
    } else {
        text::explored(&explored, common.verbose)
    })?;
    Ok(if is_broken { Exit::Failed } else { Exit::Success })
}

/// Builds the program of the net that a package has, and returns it with the arguments of the net.
fn program(arguments: &ExploreArguments) -> anyhow::Result<(NetProgram, Vec<Json>)> {
    let name = &arguments.net;
    let request = NamedRequest { name: name.clone(), manifest_path: arguments.manifest_path.clone() };
    let found = named(name, PackageNet::find(&request))?;
    let given = if arguments.arguments.is_empty() {
        found.arguments().to_vec()
    } else {
        // What is no JSON is a word.
        let value = |word: &String| serde_json::from_str(word).unwrap_or_else(|_| Json::String(word.clone()));
        arguments.arguments.iter().map(value).collect()
    };
    Ok((built(&format!("the net {name}"), |progress| found.build(progress))?, given))
}

/// Returns what was found by its name, or says which one may be meant.
pub(crate) fn named<T>(name: &str, found: Result<T, ProgramError>) -> anyhow::Result<T> {
    found.map_err(|error| match error {
        ProgramError::Unknown { .. } | ProgramError::NoPackage { .. } | ProgramError::Metadata(_) => {
            BadInput(unknown(name, &error)).into()
        }
        error => error.into(),
    })
}

/// Says that nobody has what is named, and which one may be meant.
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
