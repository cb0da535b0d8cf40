//! The processes of a driver's plan, the network between them, and the schedule of their faults.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::iter;
use std::net::{Ipv4Addr, SocketAddr};

use super::Broken;
use super::members::{Launch, Members};
use crate::error::HarnessError;
use crate::failure::ProcessFailure;
use crate::faults::{NetworkProgram, Plan, PlannedProcess, RealNetwork, RealNetworkError, Schedule, What};
use crate::implementation::fill_planned;
use crate::ports::Lease;
use crate::process::Care;

/// Where the processes of a plan receive: for each the placeholders of its ports, the usual one first, and addresses.
type Addresses = BTreeMap<String, Vec<(&'static str, SocketAddr)>>;

impl Members<'_> {
    /// Waits for the driver's plan, starts its processes, and lets its schedule begin; returns what is wrong, if
    /// anything is. Nothing is started if the driver ends before it has a plan.
    pub(super) fn start_planned(&mut self) -> Result<Option<Broken>, HarnessError> {
        let line = match self.await_plan()? {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(None),
            Err(broken) => return Ok(Some(broken)),
        };
        let plan = match Plan::read(&line) {
            Ok(plan) => plan,
            Err(why) => return Ok(Some(Broken::no_plan(why))),
        };
        if let Some(unknown) = plan.fault_without_process().or_else(|| plan.stranger_in_network()) {
            return Ok(Some(Broken::Inconclusive(unknown)));
        }
        let mut addresses = Addresses::new();
        for process in &plan.processes {
            let mut ports = Vec::new();
            for placeholder in iter::once("port").chain(process.side().further_ports()) {
                let lease = Lease::for_both()?;
                ports.push((placeholder, (Ipv4Addr::LOCALHOST, lease.port()).into()));
                self.leases.push(lease);
            }
            addresses.insert(process.name.clone(), ports);
        }
        match real_network(&plan, &addresses) {
            Ok(network) => self.real_network = network,
            Err(RealNetworkError::Proxy(error)) => return Err(error.into()),
            Err(error) => return Ok(Some(Broken::no_plan(format!("network: {error}")))),
        }
        for process in &plan.processes {
            if let Some(broken) = self.start_one(process, &plan, &addresses)? {
                return Ok(Some(broken));
            }
        }
        let names: Vec<&str> = plan.processes.iter().map(|process| process.name.as_str()).collect();
        let partitions = plan.network.as_ref().map_or(&[][..], |network| &network.partitions);
        let mut schedule = Schedule::new(&plan.faults, partitions, &names, plan.time_scale);
        schedule.not_injected.extend(self.real_network.iter().flat_map(RealNetwork::not_injected).cloned());
        self.begin(schedule);
        self.tell_beginning(&plan, &addresses);
        Ok(None)
    }

    /// Starts a process, and waits until it is ready.
    fn start_one(
        &mut self,
        process: &PlannedProcess,
        plan: &Plan,
        addresses: &Addresses,
    ) -> Result<Option<Broken>, HarnessError> {
        let (attempt, side, ports) = (self.attempt, process.side(), &addresses[&process.name]);
        let reached = self.reached(&process.name, addresses);
        let others = || plan.processes.iter().map(|other| &other.name).filter(|other| **other != process.name);
        let peers: Vec<String> = others().map(|other| format!("{other}={}", reached[other])).collect();
        let mut values: BTreeMap<String, OsString> =
            reached.iter().map(|(name, address)| (name.clone(), address.to_string().into())).collect();
        values.extend(ports.iter().map(|(own, address)| ((*own).to_owned(), address.port().to_string().into())));
        values.extend([
            ("peers".into(), peers.join(",").into()),
            ("work".into(), attempt.folder.into()),
            ("here".into(), attempt.implementation.folder.clone().into()),
            ("build".into(), attempt.build_directory.into()),
        ]);
        let command = match fill_planned(&process.command, &values) {
            Ok(command) => command,
            Err(why) => return Ok(Some(Broken::no_plan(format!("the command of {}: {why}", process.name)))),
        };
        let folder = attempt.folder.join(&process.name);
        std::fs::create_dir_all(&folder).map_err(HarnessError::file("make the folder", &folder))?;
        let launch = Launch {
            command,
            folder,
            has_own_folder: true,
            variables: self.mutant_variables(),
            care: Care::Kernel,
            plans: false,
        };
        let place = self.all.len();
        self.add(side, process.name.clone(), Some(ports[0].1.port()), launch)?;
        Ok(self.await_ready(place)?.map(|failure| match failure {
            ProcessFailure::NotReady { process, .. } => Broken::not_ready(&process, attempt),
            failure => failure.into(),
        }))
    }

    /// Returns where a process or client reaches the ports of all other processes, by the names that it knows them by.
    fn reached(&self, source: &str, addresses: &Addresses) -> BTreeMap<String, SocketAddr> {
        let others = addresses.iter().filter(|(destination, _)| *destination != source);
        let each = others.flat_map(|(destination, ports)| {
            ports.iter().enumerate().map(move |(number, &(port, address))| {
                let network = self.real_network.as_ref();
                let entry = network.and_then(|network| network.entry_of_port(source, destination, number));
                (port_name(destination, number, port), entry.unwrap_or(address))
            })
        });
        each.collect()
    }

    fn tell_beginning(&self, plan: &Plan, addresses: &Addresses) {
        let told = |(name, address): (String, SocketAddr)| (name, address.to_string());
        let reached = |client: &str| self.reached(client, addresses).into_iter().map(told).collect();
        let clients = plan.clients.iter().map(|client| (client.as_str(), reached(client))).collect();
        let addresses = addresses.iter().flat_map(|(name, ports)| {
            let each = ports.iter().enumerate();
            each.map(move |(number, &(port, address))| told((port_name(name, number, port), address)))
        });
        let addresses = addresses.collect();
        self.tell(What::Begun { addresses, clients });
        // Nothing is told before the beginning.
        for member in &self.all {
            if let Some(exit) = member.exit {
                self.tell(What::Ended { process: &member.name, exit });
            }
        }
        if self.injector.due().is_none() {
            self.tell(What::FaultsOver);
        }
    }
}

/// Returns what a port of a process is called by others, which is no name of a process.
fn port_name(process: &str, number: usize, port: &str) -> String {
    if number == 0 { process.to_owned() } else { format!("{process}:{port}") }
}

/// Returns the network of a plan, if it has one.
fn real_network(plan: &Plan, addresses: &Addresses) -> Result<Option<RealNetwork>, RealNetworkError> {
    let Some(network) = &plan.network else { return Ok(None) };
    let processes = plan.processes.iter().map(|process| &process.name);
    let program = |name: &String| {
        let ports = addresses.get(name).into_iter().flatten();
        NetworkProgram { name: name.clone(), addresses: ports.map(|&(_, address)| address).collect() }
    };
    let programs: Vec<NetworkProgram> = processes.chain(&plan.clients).map(program).collect();
    RealNetwork::start(&programs, network, plan.seed, plan.time_scale).map(Some)
}
