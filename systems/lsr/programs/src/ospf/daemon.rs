//! What there is to know of a routing daemon.

use std::ffi::OsString;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::{Bird, Frr, Internetwork, OspfError, Router};

/// A program that routes by OSPF.
pub trait RoutingDaemon: std::fmt::Debug {
    /// Returns the programs that it consists of, with the packages that have them on Debian.
    fn programs(&self) -> &'static [(&'static str, &'static str)];

    /// Returns for how long nothing must have changed, between neighbours that all know each other, until nothing will
    /// any more: longer than a daemon keeps anything back.
    fn silence(&self) -> Duration;

    /// Prepares a router, before any is started; returns the programs that run by now.
    ///
    /// # Errors
    /// [`OspfError`] if what it needs cannot be written or started.
    fn prepare(
        &self,
        network: &Internetwork,
        router: Router,
        folder: &Path,
    ) -> Result<Vec<(&'static str, Child)>, OspfError>;

    /// Starts a router that was prepared in `folder`; returns the program that runs.
    ///
    /// # Errors
    /// [`OspfError`] if it cannot be started.
    fn start(&self, network: &Internetwork, router: Router, folder: &Path) -> Result<(&'static str, Child), OspfError>;

    /// Returns the command that shows the neighbours of a router that was prepared in `folder`: its program, the
    /// package that has it on Debian, and its arguments.
    fn ask_for_neighbours(&self, folder: &Path) -> (&'static str, &'static str, Vec<OsString>);
}

/// Returns the daemon of that name: `bird` or `frr`.
pub fn named(name: &str) -> Option<&'static dyn RoutingDaemon> {
    match name {
        "bird" => Some(&Bird),
        "frr" => Some(&Frr),
        _ => None,
    }
}
