//! What a program with testbeds does.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use super::{Description, Request, Response, RoleDescription, RunRequest};
use crate::run::{run_here, testbed_of};
use crate::testbed::Testbeds;

/// Does what the command asks a program with testbeds for: the whole `main` of such a program.
///
/// It ends with the command, whatever it is doing then.
///
/// ```no_run
/// use simutant_harness::{Testbeds, serve};
///
/// fn main() -> std::process::ExitCode {
///     serve(Testbeds::new(&[/* &LeaseTestbed */]))
/// }
/// ```
#[expect(clippy::print_stderr, reason = "it is the main function of a program")]
pub fn serve(testbeds: Testbeds) -> ExitCode {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let request = match read.map(|_| serde_json::from_str(&line)) {
        Ok(Ok(request)) => request,
        Ok(Err(error)) => {
            eprintln!("{error}: `simutant test` starts this program, and asks it for what it needs");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("cannot read the request: {error}");
            return ExitCode::FAILURE;
        }
    };
    drop(line);
    // Nothing more is asked for: the end of input means that the command has ended.
    std::thread::spawn(|| {
        _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    });
    match request {
        Request::Describe => respond(&Response::Testbeds(descriptions(testbeds))),
        Request::Run(request) => respond(&run(*request, testbeds)),
    }
    ExitCode::SUCCESS
}

/// Writes a response. One that nobody reads has nobody to be missed by.
fn respond(response: &Response) {
    let mut line = serde_json::to_string(response).expect("responses are plain data");
    line.push('\n');
    let mut stdout = io::stdout().lock();
    _ = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
}

fn descriptions(testbeds: Testbeds) -> Vec<Description> {
    let description = |testbed: &'static dyn crate::Testbed| Description {
        system: testbed.system().into(),
        implemented_as: testbed.implemented_as().into(),
        roles: testbed
            .roles()
            .iter()
            .map(|role| RoleDescription {
                name: role.name.into(),
                placeholders: role.placeholders.iter().map(|name| (*name).to_owned()).collect(),
                listens: role.listens,
            })
            .collect(),
        timeout_ms: testbed.timeout().as_millis().try_into().unwrap_or(u64::MAX),
        jobs_for_each_core: testbed.jobs_for_each_core(),
        needs_fixture: testbed.needs_fixture(),
        redraws: testbed.redraws(),
        rules: testbed.rules().into_iter().map(str::to_owned).collect(),
    };
    testbeds.all().map(description).collect()
}

fn run(request: RunRequest<'_>, testbeds: Testbeds) -> Response {
    let RunRequest { suite, implementation, folder, active_mutant, options, runs } = request;
    let mut implementation = implementation.into_owned();
    (implementation.folder, implementation.active_mutant) = (folder, active_mutant);
    implementation.testbeds = testbeds;
    // Who asked keeps the results.
    let mut give = |_, result| respond(&Response::Result(Box::new(result)));
    let ran = testbed_of(&suite, &implementation)
        .and_then(|testbed| run_here(&suite, (testbed, &implementation), &options, &runs, &mut give));
    match ran {
        Ok(()) => Response::Done,
        Err(error) => Response::Failed { class: error.class(), message: error.to_string() },
    }
}
