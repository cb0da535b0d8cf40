//! Plays a test case.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use super::{Internetwork, Message, OspfError, Router, RoutingDaemon, Task};

/// Where daemons have their files. It is private to the sandbox.
const FILES: &str = "/run/ospf";

/// How often to look at the tables.
const INTERVAL: Duration = Duration::from_millis(200);

/// How long routers may take to settle. Their messages go where the tables say then.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays a test case; to be called in a sandbox. Each router's deliveries are added to the file `router-N` of the working directory,
/// a line `NUMBER SOURCE DESTINATION COST` for each; returns the path that each message took, if it arrived.
///
/// # Errors
/// [`OspfError`] if the network cannot be made, or a daemon ends.
pub fn play(task: Task, daemon: &dyn RoutingDaemon) -> Result<Vec<Option<Vec<u8>>>, OspfError> {
    let network = Internetwork::lay(task)?;
    let mut running = start(&network, daemon)?;
    settle(&network, daemon.silence(), &mut running)?;
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
        let folder = Path::new(FILES).join(format!("router-{}", router.number));
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

/// Waits until the tables are complete and nothing has changed in them for as long as `silence`, at most as long as patience lasts.
fn settle(network: &Internetwork, silence: Duration, running: &mut [Running]) -> Result<(), OspfError> {
    let (start, mut tables, mut since) = (Instant::now(), Vec::new(), Instant::now());
    while start.elapsed() < PATIENCE {
        let now = network.tables()?;
        if now != tables {
            (tables, since) = (now, Instant::now());
        }
        if network.are_complete(&tables) && since.elapsed() >= silence {
            return Ok(());
        }
        for Running { router, program, child } in running.iter_mut() {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(OspfError::DaemonEnded { router: *router, program, status });
            }
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(())
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
