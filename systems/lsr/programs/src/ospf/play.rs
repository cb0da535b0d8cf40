//! Plays a test case.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::sandbox::find;
use super::{Internetwork, Message, OspfError, Router, RoutingDaemon, Task};

/// Where daemons have their files. It is private to the sandbox.
const FILES: &str = "/run/ospf";

/// How often to look at the tables.
const INTERVAL: Duration = Duration::from_millis(200);

/// Plays a test case; to be called in a sandbox. Each router's deliveries are added to the file `router-N` of the
/// working directory, a line `NUMBER SOURCE DESTINATION COST` for each; returns the path that each message took, if it
/// arrived.
///
/// # Errors
/// [`OspfError`] if the network cannot be made, or a daemon ends.
pub fn play(task: Task, daemon: &dyn RoutingDaemon) -> Result<Vec<Option<Vec<u8>>>, OspfError> {
    let network = Internetwork::lay(task)?;
    let mut running = start(&network, daemon)?;
    settle(&network, daemon, &mut running)?;
    let messages = network.task().messages.iter();
    messages.map(|message| deliver(&network, message)).collect()
}

/// A daemon that runs, and the router that it plays.
struct Running {
    router: u8,
    program: &'static str,
    child: Child,
}

fn start(network: &Internetwork, daemon: &dyn RoutingDaemon) -> Result<Vec<Running>, OspfError> {
    let mut running = Vec::new();
    let mut routers: Vec<(Router, PathBuf)> = Vec::new();
    for &router in &network.task().routers {
        let folder = files(router.number);
        make_open(&folder).map_err(|error| OspfError::File(folder.clone(), error))?;
        for (program, child) in daemon.prepare(network, router, &folder)? {
            running.push(Running { router: router.number, program, child });
        }
        routers.push((router, folder));
    }
    routers.sort_by_key(|(router, _)| router.start);
    let first = Instant::now();
    for (router, folder) in routers {
        std::thread::sleep((first + router.start).saturating_duration_since(Instant::now()));
        let (program, child) = daemon.start(network, router, &folder)?;
        running.push(Running { router: router.number, program, child });
    }
    Ok(running)
}

/// Makes a folder that a daemon can write to also when it has become another user.
fn make_open(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o777))
}

/// Returns where the daemons of a router have their files.
fn files(router: u8) -> PathBuf {
    Path::new(FILES).join(format!("router-{router}"))
}

/// Waits until the tables are complete, nothing has changed in them for as long as a daemon may be silent, and all
/// neighbours have known each other for as long. Whoever started this program has its own idea of how long that may
/// take, and ends it then.
fn settle(network: &Internetwork, daemon: &dyn RoutingDaemon, running: &mut [Running]) -> Result<(), OspfError> {
    let (mut tables, mut since, mut are_linked) = (Vec::new(), Instant::now(), false);
    loop {
        let now = network.tables()?;
        if now != tables {
            (tables, since) = (now, Instant::now());
        }
        if network.are_complete(&tables) {
            if !are_linked {
                are_linked = links_are_up(network, daemon)?;
                since = Instant::now();
            } else if since.elapsed() >= daemon.silence() {
                return Ok(());
            }
        }
        for Running { router, program, child } in running.iter_mut() {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(OspfError::DaemonEnded { router: *router, program, status });
            }
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Returns whether each router has told all it knows to every neighbour: a link counts from then on.
fn links_are_up(network: &Internetwork, daemon: &dyn RoutingDaemon) -> Result<bool, OspfError> {
    for &Router { number, .. } in &network.task().routers {
        let (program, package, arguments) = daemon.ask_for_neighbours(&files(number));
        let output = Command::new(find(program, package)?).args(arguments).stdin(Stdio::null()).output();
        let said = output.map_err(|error| OspfError::NotStarted(program, error))?.stdout;
        if full(&String::from_utf8_lossy(&said)) < network.task().neighbours(number).count() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns how many neighbours are in the state `Full` (RFC 2328, section 10.1), which all daemons show in the same
/// way.
fn full(neighbours: &str) -> usize {
    neighbours.lines().filter(|line| line.contains("Full/")).count()
}

/// Follows a message, and writes it down where it arrives.
fn deliver(network: &Internetwork, message: &Message) -> Result<Option<Vec<u8>>, OspfError> {
    let &Message { number, source, destination } = message;
    let Some((path, cost)) = network.path(source, destination)? else { return Ok(None) };
    let arrived = path[path.len() - 1];
    let file = PathBuf::from(format!("router-{arrived}"));
    let failed = |error| OspfError::File(file.clone(), error);
    let mut text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    writeln!(text, "{number} {source} {destination} {cost}").expect("a text takes everything");
    std::fs::write(&file, text).map_err(failed)?;
    Ok(Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_up_when_the_neighbour_is_full() {
        let bird = "BIRD 2.0.12 ready.\nospf1:\nRouter ID   \tPri\t     State     \tDTime\tInterface  Router IP\n\
                    10.0.0.2    \t  1\tFull/PtP  \t59.1\tto-2       10.1.0.1\n10.0.0.3    \t  1\tExStart/PtP  \t59.0\tto-3       10.1.2.0\n";
        assert_eq!(full(bird), 1);
    }
}
