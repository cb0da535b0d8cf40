//! Finds free UDP ports, and tells when a program has bound the one that it was given.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;

use rustix::process::Pid;

/// Returns a UDP port of the loopback address that nobody has bound just now.
///
/// Another process may take it before the program that it is for does: [`is_taken`] tells that case.
///
/// # Errors
/// The system's reason if no port is free.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Returns whether some process has bound the port.
pub(crate) fn is_taken(port: u16) -> bool {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

/// Returns whether a process of `group` has bound the UDP port, on whatever address.
///
/// Reads `/proc`, so that nothing is sent to the program and its port is never held from it.
///
/// # Errors
/// If `/proc` is not that of Linux.
pub(crate) fn is_bound_by(port: u16, group: Pid) -> io::Result<bool> {
    let mut sockets = sockets_at(port, Path::new("/proc/net/udp"))?;
    // A system without IPv6 has no such file.
    sockets.extend(sockets_at(port, Path::new("/proc/net/udp6")).unwrap_or_default());
    if sockets.is_empty() {
        return Ok(false);
    }
    for entry in Path::new("/proc").read_dir()?.flatten() {
        // Processes come and go while the folder is read.
        let folder = entry.path();
        let Ok(stat) = std::fs::read_to_string(folder.join("stat")) else { continue };
        if group_of(&stat) == Some(group.as_raw_pid()) && holds_one_of(&folder, &sockets) {
            return Ok(true);
        }
    }
    Ok(false)
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
    use super::*;

    #[test]
    fn a_free_port_can_be_bound() {
        let port = free_port().expect("a loopback port is free");
        assert!(port > 0);
    }

    #[test]
    fn a_bound_port_is_seen_with_its_owner() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let port = socket.local_addr().expect("a bound socket has an address").port();
        let own_group = rustix::process::getpgrp();
        assert!(is_taken(port));
        assert!(is_bound_by(port, own_group).expect("/proc is there"));
        assert!(!is_bound_by(port, Pid::INIT).expect("/proc is there"));
    }

    #[test]
    fn the_group_is_found_behind_any_name() {
        assert_eq!(group_of("12 (a) b) S 1 77 77 0 -1"), Some(77));
        assert_eq!(group_of("nonsense"), None);
    }
}
