//! Plays a test case of link-state routing on daemons that speak OSPF:
//! `lsr-ospf --daemon bird|frr --routers LIST --links LIST --messages LIST --output FOLDER`.
//!
//! Ends with exit code 69 if this machine lacks what that takes, and with 1 if a daemon does not do its part.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use simutant_lsr_programs::ospf::{List, OspfError, Task, named, play, sandbox};
use simutant_programs::Options;
use simutant_programs::UNAVAILABLE;

const OPTIONS: [&str; 6] = ["--daemon", "--routers", "--links", "--messages", "--output", "--stage"];

/// What the program calls itself with in the sandbox.
const INSIDE: [&str; 2] = ["--stage", "inside"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the complaint, the exit code is all there is.
            _ = writeln!(std::io::stderr(), "lsr-ospf: {error}");
            let is_unavailable = error.downcast_ref().is_some_and(OspfError::is_unavailable);
            if is_unavailable { ExitCode::from(UNAVAILABLE) } else { ExitCode::FAILURE }
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::parse(arguments.iter().cloned(), &OPTIONS)?;
    let name: String = options.get("--daemon")?;
    let daemon = named(&name).ok_or_else(|| format!("there is no daemon `{name}`; there are: bird, frr"))?;
    let (List(routers), List(links)) = (options.get("--routers")?, options.get("--links")?);
    let task = Task { routers, links, messages: options.get::<List<_>>("--messages")?.0 };
    for (program, package) in [("ip", "iproute2"), ("mount", "mount")].iter().chain(daemon.programs()) {
        sandbox::find(program, package)?;
    }
    // Only there it is the first process. The word alone must not do, as what follows would change the machine's own
    // network.
    let is_inside = options.get::<String>("--stage").is_ok() && std::process::id() == 1;
    if !is_inside {
        let inside = arguments.into_iter().chain(INSIDE.map(String::from)).map(Into::into).collect();
        match sandbox::enter(inside)? {}
    }
    // From here on its path may lead elsewhere.
    std::env::set_current_dir(options.get::<PathBuf>("--output")?)?;
    sandbox::hide_folders()?;
    let messages = task.messages.clone();
    for (message, path) in messages.iter().zip(play(task, daemon)?) {
        let said = match path {
            Some(path) => path.iter().map(u8::to_string).collect::<Vec<_>>().join(" "),
            None => "nowhere".into(),
        };
        writeln!(std::io::stdout(), "message {} from {} went {said}", message.number, message.source)?;
    }
    Ok(())
}
