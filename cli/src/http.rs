//! `simutant http`: a server, tested by the specification of its service.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;

use simutant_http_tester::Step;
use simutant_http_tester::testing::{Found, TestingReply, TestingReport, TestingRequest};
use simutant_study::{NamedRequest, PackageHttpService, TestingProgram};

use crate::arguments::{Common, HttpArguments, ServerUrl};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::progress::ProgressPhase;
use crate::stages::built;
use crate::test::commands;
use crate::{explore, output};

/// How many kinds of answers are told by their methods as well.
const ANSWERS_MAX: usize = 16;

pub(crate) fn run(arguments: &HttpArguments, common: &Common) -> anyhow::Result<Exit> {
    let given = arguments.replay.as_deref().map(scripts).transpose()?.unwrap_or_default();
    let program = program(arguments)?;
    let ServerUrl { host, base } = arguments.server.clone();
    let request = TestingRequest {
        host,
        base,
        headers: arguments.header.iter().cloned().collect(),
        reset: arguments.reset.clone(),
        given,
        seed: common.seed,
        scripts: arguments.scripts.get(),
        steps: arguments.requests.get(),
        connections: arguments.connections,
        patience: arguments.timeout,
        waived: arguments.waive.clone(),
    };
    let phase = ProgressPhase::open("test");
    let interrupts = Interrupts::listen()?;
    let reply = program.ask(&request, interrupts.flag())?;
    let run = if let TestingReply::Tested(tested) = &reply { tested.scripts } else { 0 };
    phase.end(&format!("{run} scripts"));
    let tested = match reply {
        TestingReply::Tested(tested) => tested,
        TestingReply::Unreachable { message } => {
            output::tell(&format!("{}: {message}; start the server first", arguments.server));
            return Ok(Exit::Unavailable);
        }
        TestingReply::Failed { message } => {
            output::tell(&message);
            return Ok(Exit::Unavailable);
        }
        TestingReply::Mistake { message } => return Err(BadInput(format!("{}: {message}", arguments.service)).into()),
    };
    let exit = match () {
        () if interrupts.flag().load(Ordering::SeqCst) => Exit::Interrupted,
        () if !tested.findings.is_empty() => Exit::Failed,
        () if !tested.inconclusive.is_empty() => Exit::Inconclusive,
        () => Exit::Success,
    };
    output::print(&if common.json {
        output::json(&output::Versioned::new(tested))?
    } else {
        text(&tested, arguments)
    })?;
    Ok(exit)
}

/// Reads the scripts of the findings in a file, or the one script that it is.
fn scripts(path: &Path) -> anyhow::Result<Vec<Vec<Step>>> {
    let refuse = |message: String| BadInput(format!("--replay {}: {message}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    let scripts: serde_json::Result<Vec<Vec<Step>>> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(&text).map(|script| vec![script]),
        false => serde_json::from_str(&text).and_then(|TestingReport { findings, .. }| {
            findings.into_iter().map(|found| serde_json::from_value(found.finding.detail["script"].clone())).collect()
        }),
    };
    let scripts = scripts.map_err(|error| refuse(error.to_string()))?;
    if scripts.is_empty() { Err(refuse("it has no finding".to_owned()).into()) } else { Ok(scripts) }
}

/// Builds the program that tests servers of the service.
fn program(arguments: &HttpArguments) -> anyhow::Result<TestingProgram> {
    let name = &arguments.service;
    let request = NamedRequest { name: name.clone(), manifest_path: arguments.manifest_path.clone() };
    let found = explore::named(name, PackageHttpService::find(&request))?;
    Ok(built(&format!("the tester of {name}"), |progress| found.build(progress))?)
}

fn text(tested: &TestingReport, arguments: &HttpArguments) -> String {
    let TestingReport { scripts, requests, answers, lost, seconds, findings, inconclusive, stopped, kept } = tested;
    let mut text = String::new();
    let mut frequent: Vec<&Found> = findings.iter().collect();
    frequent.sort_by_key(|found| std::cmp::Reverse(found.scripts));
    for Found { finding, scripts: count, .. } in frequent {
        text.push_str(&format!("FAILED in {count} of {scripts} scripts: {}\n{}\n", finding.summary, commands(finding)));
    }
    for rule in arguments.waive.iter().collect::<BTreeSet<_>>() {
        text.push_str(&format!(
            "waived: {rule}; not broken in {} of {scripts} scripts\n",
            kept.get(rule).unwrap_or(&0)
        ));
    }
    for (reason, count) in inconclusive {
        text.push_str(&format!("inconclusive in {count} of {scripts} scripts: {reason}\n"));
    }
    if *lost > 0 {
        text.push_str(&format!(
            "lost with their connections: {lost} requests, which may have been performed, or not\n"
        ));
    }
    if let Some(reason) = stopped {
        text.push_str(&format!("stopped after {scripts} scripts: {reason}\n"));
    }
    // Many of them are told by their status codes alone, which come behind the method.
    let mut by_status: BTreeMap<&str, usize> = BTreeMap::new();
    for (answer, count) in answers {
        let status = answer.rsplit_once(' ').map_or(answer.as_str(), |(_, status)| status);
        *by_status.entry(if answers.len() > ANSWERS_MAX { status } else { answer }).or_default() += count;
    }
    let seen: Vec<String> = by_status.iter().map(|(answer, count)| format!("{answer} {count} times")).collect();
    text.push_str(&format!("answers: {}\n", if seen.is_empty() { "none".to_owned() } else { seen.join(", ") }));
    let found = match findings.len() {
        0 => "no answer was wrong".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let (service, server) = (&arguments.service, &arguments.server);
    text + &format!("{service} at {server}: {requests} requests in {seconds:.1} s, {found}\n")
}
