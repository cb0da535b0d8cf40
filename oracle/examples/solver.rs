//! An SMT solver as a second judge: the formula of a history, and what `z3` or `cvc5` says of it.
//!
//! `cargo run -p simutant-oracle --example solver` asks about two histories of a register, and keeps the formulas.

use simutant_oracle::smt::{self, Satisfiable, Solver};
use simutant_oracle::specifications::Register;
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{Check, History, Misuse, Order, Recorder, Session, Time};

/// How long the solver may take for a question, in seconds.
const LIMIT_SECONDS: u64 = 60;

/// How many states the calls may reach.
const STATES_MAX: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let solver = Solver::installed()?;
    for (name, seen) in [("fresh", 7), ("stale", 3)] {
        let history = history(seen)?;
        let text = smt::formula(&history, &Register::default(), &Order::linearizability(), STATES_MAX)?;
        let file = std::env::temp_dir().join(format!("register-{}-{name}.smt2", std::process::id()));
        let answers = solver.answers(&text, LIMIT_SECONDS)?;
        std::fs::write(&file, text)?;
        #[expect(clippy::print_stdout, reason = "this is the result")]
        {
            println!("{}: {answers:?}", file.display());
        }

        let is_possible = Check::default().run(&history, &Register::default()).is_possible();
        assert_eq!(answers, [if is_possible { Satisfiable::Yes } else { Satisfiable::No }]);
    }
    Ok(())
}

/// A client writes 3 and then 7; another one reads afterwards.
fn history(seen: u8) -> Result<History<Operation<u8>, Response<u8>>, Misuse> {
    let recorder = Recorder::new();
    let calls = [
        (1, Operation::Write(3), Response::Done),
        (1, Operation::Write(7), Response::Done),
        (2, Operation::Read, Response::Value(Some(seen))),
    ];
    for (number, (session, operation, response)) in (0..).zip(calls) {
        let call = recorder.invoke(Session(session), operation, Time::from_nanos(10 * number));
        recorder.returned(call, response, Time::from_nanos(10 * number + 5))?;
    }
    Ok(recorder.history())
}
