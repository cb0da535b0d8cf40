//! Finds free UDP ports, and tells when a program has bound the one that it was given.
//!
//! A port that was handed out must stay free until its program binds it, and be that program's alone as long as it
//! runs. That it is bound is not enough: some programs, Unbound among them, share their port with any other program
//! (`SO_REUSEPORT`), and each then gets a part of what is meant for the other. So each port is claimed for its test
//! case, against all other jobs on the machine. Nothing here binds one to see whether it is free (the kernel's tables
//! tell), and ports come from a range that no system hands out by itself: neither a proxy's own sockets nor those of
//! the programs under test can get one by chance. Only programs that choose ports by themselves can, as resolvers do
//! for each query, for a moment; so one that ends before it is ready has a second chance (`run.rs`).

mod claim;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::path::Path;

use rustix::process::Pid;
use simutant_sim_core::Random;

use crate::error::HarnessError;
use claim::Claim;

/// Where ports are looked for: below those that systems give to sockets that ask for any (Linux from 32,768 on, others
/// from 49,152 on), above most of those that services have.
const RANGE: RangeInclusive<u16> = 20_000..=32_767;

/// How many ports of the range are tried, each drawn anew.
const TRIES_MAX: usize = 10_000;

/// How many ports that are free for datagrams are tried for streams.
const BOTH_TRIES_MAX: usize = 100;

/// A port that no other job is given as long as this lives, on Linux of whatever process.
#[derive(Debug)]
pub struct Lease(Claim);

impl Lease {
    /// Returns a UDP port that nobody has bound and no other job has.
    ///
    /// A process that is no run of Simutant may take it before the program that it is for does: `is_bound` tells that
    /// case.
    ///
    /// # Errors
    /// [`HarnessError::NoPort`] if no port is free, [`HarnessError::Exhausted`] if the system has no sockets left.
    pub fn new() -> Result<Self, HarnessError> {
        Self::find().map_err(HarnessError::no_port)
    }

    /// Returns a port that nobody has bound for datagrams, and nobody listens at for streams, and no other job has.
    ///
    /// # Errors
    /// As for [`Lease::new`].
    pub fn for_both() -> Result<Self, HarnessError> {
        for _ in 0..BOTH_TRIES_MAX {
            let lease = Self::new()?;
            if !is_bound(Protocol::Tcp, lease.port()).map_err(HarnessError::no_port)? {
                return Ok(lease);
            }
        }
        Err(HarnessError::no_port(io::ErrorKind::AddrNotAvailable.into()))
    }

    fn find() -> io::Result<Self> {
        let mut random = Random::from_seed(RandomState::new().hash_one(std::process::id()));
        for _ in 0..TRIES_MAX {
            // In this order: whoever had the claim before let his program go first.
            if let Some(claim) = Claim::new(random.uniform(RANGE))?
                && !is_bound(Protocol::Udp, claim.port())?
            {
                return Ok(Self(claim));
            }
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.0.port()
    }
}

/// A protocol with ports.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Protocol {
    Udp,
    Tcp,
}

impl Protocol {
    /// Returns the tables of the kernel that have its sockets.
    fn tables(self) -> [&'static str; 2] {
        match self {
            Self::Udp => ["/proc/net/udp", "/proc/net/udp6"],
            Self::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
        }
    }

    fn try_bind(self, port: u16) -> io::Result<()> {
        let address = (Ipv4Addr::LOCALHOST, port);
        match self {
            Self::Udp => UdpSocket::bind(address).map(drop),
            Self::Tcp => TcpListener::bind(address).map(drop),
        }
    }
}

/// Returns whether some socket of a protocol is bound to the port, on whatever address.
///
/// Without Linux's `/proc` it can only be tried, which takes the port for a moment: longer if a program is started
/// meanwhile, which has it until it runs.
///
/// # Errors
/// The system's reason if it has no files left.
pub(crate) fn is_bound(protocol: Protocol, port: u16) -> io::Result<bool> {
    match bound_sockets(protocol, port) {
        Ok(sockets) => Ok(!sockets.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match protocol.try_bind(port) {
            Ok(()) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(true),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Returns whether a process of `group` has bound the UDP port, on whatever address.
///
/// Reads `/proc`, so that nothing is sent to the program and its port is never held from it.
///
/// # Errors
/// If `/proc` is not that of Linux.
pub(crate) fn is_bound_by(port: u16, group: Pid) -> io::Result<bool> {
    let sockets = bound_sockets(Protocol::Udp, port)?;
    if sockets.is_empty() {
        return Ok(false);
    }
    // Most often it is the leader itself, which is found without a look at all the others.
    let leader = Path::new("/proc").join(group.as_raw_pid().to_string());
    let others = Path::new("/proc").read_dir()?.flatten().map(|entry| entry.path());
    for folder in std::iter::once(leader).chain(others) {
        // Processes come and go while the folder is read.
        let Ok(stat) = std::fs::read_to_string(folder.join("stat")) else { continue };
        if group_of(&stat) == Some(group.as_raw_pid()) && holds_one_of(&folder, &sockets) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a datagram that has come to one of the UDP ports waits to be read.
///
/// Without Linux's `/proc` this cannot be seen, and is `false`.
pub fn has_unread(ports: &BTreeSet<u16>) -> bool {
    let table = std::fs::read_to_string("/proc/net/udp").unwrap_or_default();
    table.lines().any(|line| unread_at(line).is_some_and(|(port, bytes)| bytes > 0 && ports.contains(&port)))
}

/// Returns the port in a line of the kernel's table, and how many bytes wait to be read there.
fn unread_at(line: &str) -> Option<(u16, u64)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (_, port) = fields.next()?.rsplit_once(':')?;
    let (_, unread) = fields.nth(2)?.split_once(':')?;
    Some((u16::from_str_radix(port, 16).ok()?, u64::from_str_radix(unread, 16).ok()?))
}

/// Returns the link targets of the sockets of a protocol that are bound to `port`, on whatever address.
fn bound_sockets(protocol: Protocol, port: u16) -> io::Result<Vec<String>> {
    let [table, table_of_ipv6] = protocol.tables().map(Path::new);
    let mut sockets = sockets_at(port, table)?;
    // A system without IPv6 has no such file.
    sockets.extend(sockets_at(port, table_of_ipv6).unwrap_or_default());
    Ok(sockets)
}

/// Returns the link targets of the sockets that are bound to `port`, from a table of the kernel.
fn sockets_at(port: u16, table: &Path) -> io::Result<Vec<String>> {
    let suffix = format!(":{port:04X}");
    let socket = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let local = fields.next()?;
        let inode = fields.nth(7)?;
        local.ends_with(&suffix).then(|| format!("socket:[{inode}]"))
    };
    Ok(std::fs::read_to_string(table)?.lines().filter_map(socket).collect())
}

/// Returns the process group in a `/proc/*/stat` line; the name before it may hold any character.
fn group_of(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

/// Returns whether a process has one of the sockets open.
fn holds_one_of(process: &Path, sockets: &[String]) -> bool {
    let Ok(files) = process.join("fd").read_dir() else { return false };
    files
        .flatten()
        .filter_map(|file| std::fs::read_link(file.path()).ok())
        .any(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn lease() -> Lease {
        Lease::new().expect("a port is free")
    }

    #[track_caller]
    fn eventually(holds: impl Fn() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(30), "not for long");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_port_has_one_holder_until_it_is_given_back() {
        let leases: Vec<Lease> = (0..500).map(|_| lease()).collect();
        let ports: BTreeSet<u16> = leases.iter().map(Lease::port).collect();
        assert_eq!(ports.len(), leases.len());
        assert!(ports.iter().all(|port| RANGE.contains(port)));
        let claimed = || ports.iter().filter(|port| Claim::new(**port).expect("sockets are left").is_none()).count();
        assert_eq!(claimed(), 500);
        drop(leases);
        // Tests that run beside this one may have drawn a few of them since, and programs that they are about to start
        // hold all for a moment.
        eventually(|| claimed() < 20);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn another_process_is_refused_a_port_that_has_a_holder() {
        const PORT: &str = "SIMUTANT_TEST_CLAIMED_PORT";
        if let Ok(port) = std::env::var(PORT) {
            let port = port.parse().expect("it is a port");
            assert!(Claim::new(port).expect("sockets are left").is_none(), "there is no other holder");
            return;
        }
        let lease = lease();
        let port = lease.port();
        let is_refused = || {
            let mut other = std::process::Command::new(std::env::current_exe().expect("a test has an executable"));
            other.args(["--exact", "ports::tests::another_process_is_refused_a_port_that_has_a_holder"]);
            other.env(PORT, port.to_string()).output().expect("the test can be started").status.success()
        };
        assert!(is_refused());
        drop(lease);
        eventually(|| !is_refused());
    }

    #[test]
    fn looking_at_a_port_leaves_it_free() {
        let lease = lease();
        // Whoever bound the port to look would be seen by the other one. Nothing is bound here: a program that another
        // test just starts would hold the socket, too, until it is there.
        let look = || (0..200).filter(|_| is_bound(Protocol::Udp, lease.port()).expect("files are left")).count();
        let taken = std::thread::scope(|scope| [(); 2].map(|()| scope.spawn(look)).map(|looking| looking.join().ok()));
        assert_eq!(taken, [Some(0); 2]);
    }

    #[test]
    fn a_bound_port_is_seen_with_its_owner() {
        let lease = lease();
        let port = lease.port();
        assert!(!is_bound(Protocol::Udp, port).expect("files are left"));
        let _socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        let own_group = rustix::process::getpgrp();
        assert!(is_bound(Protocol::Udp, port).expect("files are left"));
        assert!(is_bound_by(port, own_group).expect("/proc is there"));
        assert!(!is_bound_by(port, Pid::INIT).expect("/proc is there"));
        let is_listening = || is_bound(Protocol::Tcp, port).expect("files are left");
        assert!(!is_listening());
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("nobody listens");
        assert!(is_listening());
    }

    #[test]
    fn a_datagram_that_waits_is_seen_until_it_is_read() {
        let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free"));
        let address = receiver.local_addr().expect("a bound socket has an address");
        let ports = BTreeSet::from([address.port()]);
        assert!(!has_unread(&ports));
        sender.send_to(b"text", address).expect("loopback accepts");
        assert!(has_unread(&ports));
        assert!(!has_unread(&BTreeSet::new()));
        receiver.recv(&mut [0; 8]).expect("it is there");
        assert!(!has_unread(&ports));
    }

    #[test]
    fn the_group_is_found_behind_any_name() {
        assert_eq!(group_of("12 (a) b) S 1 77 77 0 -1"), Some(77));
        assert_eq!(group_of("nonsense"), None);
    }
}
