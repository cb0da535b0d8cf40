//! `simutant http`: a server, tested by the specification of its service.

use std::collections::BTreeSet;

use simutant_http_tester::testing::{Found, Tested, TestingReply, TestingRequest};
use simutant_study::{HttpServiceRequest, TestingProgram};

use crate::arguments::{Common, HttpArguments};
use crate::exit::{BadInput, Exit};
use crate::progress::ProgressPhase;
use crate::stages::built;
use crate::test::commands;
use crate::{explore, output};

pub(crate) fn run(arguments: &HttpArguments, common: &Common) -> anyhow::Result<Exit> {
    let program = program(arguments)?;
    let request = TestingRequest {
        host: arguments.host.clone(),
        seed: common.seed,
        scripts: arguments.scripts.get(),
        steps: arguments.requests.get(),
        connections: arguments.connections,
        patience: arguments.timeout,
        waived: arguments.waive.clone(),
    };
    let phase = ProgressPhase::open("test");
    let reply = program.ask(&request)?;
    phase.end(&format!("{} scripts", request.scripts));
    let tested = match reply {
        TestingReply::Tested(tested) => tested,
        TestingReply::Unreachable { message } => {
            output::tell(&format!("http://{}: {message}; start the server first", arguments.host));
            return Ok(Exit::Unavailable);
        }
        TestingReply::Mistake { message } => return Err(BadInput(format!("{}: {message}", arguments.service)).into()),
    };
    let exit = match () {
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

/// Builds the program that tests servers of the service.
fn program(arguments: &HttpArguments) -> anyhow::Result<TestingProgram> {
    let name = &arguments.service;
    let request = HttpServiceRequest { name: name.clone(), manifest_path: arguments.manifest_path.clone() };
    let found = explore::named(name, request.find())?;
    Ok(built(&format!("the tester of {name}"), |progress| found.build(progress))?)
}

fn text(tested: &Tested, arguments: &HttpArguments) -> String {
    let Tested { scripts, requests, answers, lost, seconds, findings, inconclusive, stopped, kept } = tested;
    let mut text = String::new();
    for Found { finding, scripts: count, .. } in findings {
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
    let seen: Vec<String> = answers.iter().map(|(answer, count)| format!("{answer} {count} times")).collect();
    text.push_str(&format!("answers: {}\n", if seen.is_empty() { "none".to_owned() } else { seen.join(", ") }));
    let found = match findings.len() {
        0 => "no answer was wrong".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let (service, host) = (&arguments.service, &arguments.host);
    text + &format!("{service} at http://{host}: {requests} requests in {seconds:.1} s, {found}\n")
}
