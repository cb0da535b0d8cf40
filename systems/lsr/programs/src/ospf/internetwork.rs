//! Network namespaces with links between them.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::sandbox::find;
use super::{Link, OspfError, Task};

/// The network of a test case: a namespace for each router, a pair of devices for each link.
///
/// It is gone when the namespaces of this process are.
#[derive(Debug)]
pub struct Internetwork {
    task: Task,
    ip: PathBuf,
}

/// Returns the address by which a router is known. It is on no link.
pub(super) fn address(router: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, router)
}

/// Returns the device by which a router sends to a neighbour.
pub(super) fn device(neighbour: u8) -> String {
    format!("to-{neighbour}")
}

/// Returns the namespace of a router.
fn namespace(router: u8) -> String {
    format!("router-{router}")
}

impl Internetwork {
    /// Makes the network; to be called in a sandbox.
    ///
    /// # Errors
    /// [`OspfError::Network`] if the kernel lacks something.
    pub fn lay(task: Task) -> Result<Self, OspfError> {
        let network = Self { ip: find("ip", "iproute2")?, task };
        let mut all = String::new();
        for router in &network.task.routers {
            writeln!(all, "netns add {}", namespace(router.number)).expect("a text takes everything");
        }
        for Link { ends: [one, other], .. } in &network.task.links {
            let end = |at: u8, to: u8| format!("{} netns {}", device(to), namespace(at));
            let (first, second) = (end(*one, *other), end(*other, *one));
            writeln!(all, "link add {first} type veth peer name {second}").expect("a text takes everything");
        }
        network.batch(&[], &all)?;
        for router in &network.task.routers {
            let number = router.number;
            network.batch(&["-n", &namespace(number)], &devices(&network.task, number))?;
            // Daemons route for others.
            let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
            network.output(&["netns", "exec", &namespace(number), "sh", "-c", forward])?;
        }
        Ok(network)
    }

    /// Returns what there is to route.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the neighbours of a router, with the costs of the links to them.
    pub(super) fn neighbours(&self, router: u8) -> impl Iterator<Item = (u8, u16)> {
        self.task.neighbours(router)
    }

    /// Writes a file for a daemon.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), OspfError> {
        std::fs::write(path, text).map_err(|error| OspfError::File(path.into(), error))
    }

    /// Starts a program in the namespace of a router. What it prints is this program's complaint.
    pub(super) fn spawn(&self, router: u8, program: &'static str, arguments: &[OsString]) -> Result<Child, OspfError> {
        // The package was named before.
        let path = find(program, "")?;
        let not_started = |error| OspfError::NotStarted(program, error);
        Command::new(&self.ip)
            .args(["netns", "exec", &namespace(router)])
            .arg(path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(not_started)
    }

    /// Returns the routing tables of all routers, as the kernel shows them.
    ///
    /// # Errors
    /// [`OspfError::Network`] if they cannot be looked at.
    pub fn tables(&self) -> Result<Vec<String>, OspfError> {
        let table = |router: &super::Router| self.output(&["-n", &namespace(router.number), "route", "show"]);
        self.task.routers.iter().map(table).collect()
    }

    /// Returns whether every router knows a way to every other one, by [`Internetwork::tables`].
    pub fn are_complete(&self, tables: &[String]) -> bool {
        self.task.routers.iter().zip(tables).all(|(router, table)| {
            let others = self.task.routers.iter().filter(|other| other.number != router.number);
            others
                .map(|other| format!("{} ", address(other.number)))
                .all(|destination| table.lines().any(|line| line.starts_with(&destination)))
        })
    }

    /// Returns the routers that a message passes on its way, by the kernel's tables, from the source to the
    /// destination, and what that costs; `None` if it gets lost or does not come to an end.
    ///
    /// # Errors
    /// [`OspfError::Network`] if `ip` cannot be run.
    pub fn path(&self, source: u8, destination: u8) -> Result<Option<(Vec<u8>, u32)>, OspfError> {
        let (mut path, mut cost) = (vec![source], 0);
        while path.len() <= self.task.routers.len() {
            let here = path[path.len() - 1];
            let destination = address(destination).to_string();
            let output = self.run(&["-n", &namespace(here), "route", "get", &destination])?;
            // There is no way, or one that is forbidden.
            if !output.status.success() {
                return Ok(None);
            }
            match step(&String::from_utf8_lossy(&output.stdout)) {
                Some(Step::Here) => return Ok(Some((path, cost))),
                Some(Step::To(next)) => match self.task.neighbours(here).find(|&(neighbour, _)| neighbour == next) {
                    Some((_, link_cost)) => {
                        cost += u32::from(link_cost);
                        path.push(next);
                    }
                    None => return Ok(None),
                },
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    fn run(&self, arguments: &[&str]) -> Result<std::process::Output, OspfError> {
        Command::new(&self.ip).args(arguments).output().map_err(|error| OspfError::NotStarted("ip", error))
    }

    fn output(&self, arguments: &[&str]) -> Result<String, OspfError> {
        let output = self.run(arguments)?;
        check(&output, arguments)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a command of `ip` for each line.
    fn batch(&self, options: &[&str], lines: &str) -> Result<(), OspfError> {
        let not_started = |error| OspfError::NotStarted("ip", error);
        let mut child = Command::new(&self.ip)
            .args(options)
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_started)?;
        let mut stdin = child.stdin.take().expect("it is piped");
        // It may stop reading at a line that fails, and says so then.
        _ = stdin.write_all(lines.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().map_err(not_started)?;
        check(&output, options)
    }
}

fn check(output: &std::process::Output, arguments: &[&str]) -> Result<(), OspfError> {
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(OspfError::Network { command: format!("ip {}", arguments.join(" ")), reason })
}

/// Returns the commands that give a router its addresses, each link a network of two, and switch its devices on.
fn devices(task: &Task, router: u8) -> String {
    let mut lines = format!("addr add {}/32 dev lo\nlink set lo up\n", address(router));
    for (number, link) in (0_u8..).zip(&task.links) {
        let Some(place) = (0_u8..).zip(link.ends).find_map(|(place, end)| (end == router).then_some(place)) else {
            continue;
        };
        let device = device(link.ends[usize::from(1 - place)]);
        let own = Ipv4Addr::new(10, 1, number, place);
        writeln!(lines, "addr add {own}/31 dev {device}\nlink set {device} up").expect("a text takes everything");
    }
    lines
}

/// What a router does with a message.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// It is for this router.
    Here,
    /// It is sent to this neighbour.
    To(u8),
}

/// Returns what `ip route get` says, if that is a step that a router can take.
fn step(said: &str) -> Option<Step> {
    let mut words = said.split_ascii_whitespace();
    if said.starts_with("local ") {
        return Some(Step::Here);
    }
    words.find(|word| *word == "dev")?;
    words.next()?.strip_prefix("to-")?.parse().ok().map(Step::To)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ospf::List;

    fn task() -> Task {
        let (List(routers), List(links)) =
            ("1@0,2@0,3@0".parse().expect("routers"), "1-2/1,2-3/2,3-1/5".parse().expect("links"));
        Task { routers, links, messages: Vec::new() }
    }

    #[test]
    fn a_step_is_read_from_what_the_kernel_says() {
        assert_eq!(step("10.0.0.3 via 10.1.0.1 dev to-2 src 10.1.0.0 uid 0 \n    cache \n"), Some(Step::To(2)));
        assert_eq!(step("local 10.0.0.1 dev lo src 10.0.0.1 uid 0 \n    cache <local> \n"), Some(Step::Here));
        assert_eq!(step("10.0.0.3 dev eth0 src 10.1.0.0 uid 0"), None);
        assert_eq!(step("unreachable 10.0.0.3"), None);
        assert_eq!(step(""), None);
    }

    #[test]
    fn the_ends_of_a_link_are_neighbours_in_a_network_of_two() {
        let lines = devices(&task(), 3);
        assert_eq!(
            lines,
            "addr add 10.0.0.3/32 dev lo\nlink set lo up\n\
             addr add 10.1.1.1/31 dev to-2\nlink set to-2 up\n\
             addr add 10.1.2.0/31 dev to-1\nlink set to-1 up\n"
        );
    }

    #[test]
    fn tables_are_complete_when_every_router_knows_every_other_one() {
        let network = Internetwork { task: task(), ip: PathBuf::new() };
        let mut tables: Vec<String> =
            ["10.0.0.2 via 10.1.0.1 dev to-2\n10.0.0.3 via 10.1.0.1 dev to-2\n"; 3].map(String::from).to_vec();
        assert!(!network.are_complete(&tables), "2 and 3 do not know 1");
        for table in &mut tables[1..] {
            table.push_str("10.0.0.1 nhid 18 via 10.1.0.0 dev to-1 proto ospf metric 20\n");
        }
        assert!(network.are_complete(&tables));
        tables[0] = "10.0.0.20 dev to-2\n10.0.0.3 dev to-3\n".into();
        assert!(!network.are_complete(&tables), "1 does not know 2");
    }
}
