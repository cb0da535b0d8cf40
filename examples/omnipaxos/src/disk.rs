//! A disk: the protocol's storage in memory that a crash leaves as it is.

use omnipaxos::ballot_leader_election::Ballot;
use omnipaxos::storage::{NoSnapshot, StopSign, Storage, StorageOp, StorageResult};
use omnipaxos_storage::memory_storage::MemoryStorage;
use simutant_sim_core::Durable;

use crate::messages::Command;

/// The storage of a server. Every write is durable at once.
#[derive(Debug)]
pub struct Disk(pub Durable<Content>);

/// What is on a disk.
pub struct Content(MemoryStorage<Command>);

impl Content {
    /// Returns an empty disk.
    pub fn new() -> Self {
        Self(MemoryStorage::default())
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Content").finish_non_exhaustive()
    }
}

impl Storage<Command> for Disk {
    fn write_atomically(&mut self, operations: Vec<StorageOp<Command>>) -> StorageResult<()> {
        self.0.change().0.write_atomically(operations)
    }

    fn append_entry(&mut self, entry: Command) -> StorageResult<()> {
        self.0.change().0.append_entry(entry)
    }

    fn append_entries(&mut self, entries: Vec<Command>) -> StorageResult<()> {
        self.0.change().0.append_entries(entries)
    }

    fn append_on_prefix(&mut self, from: usize, entries: Vec<Command>) -> StorageResult<()> {
        self.0.change().0.append_on_prefix(from, entries)
    }

    fn set_promise(&mut self, promise: Ballot) -> StorageResult<()> {
        self.0.change().0.set_promise(promise)
    }

    fn set_decided_idx(&mut self, index: usize) -> StorageResult<()> {
        self.0.change().0.set_decided_idx(index)
    }

    fn get_decided_idx(&self) -> StorageResult<usize> {
        self.0.get().0.get_decided_idx()
    }

    fn set_accepted_round(&mut self, round: Ballot) -> StorageResult<()> {
        self.0.change().0.set_accepted_round(round)
    }

    fn get_accepted_round(&self) -> StorageResult<Option<Ballot>> {
        self.0.get().0.get_accepted_round()
    }

    fn get_entries(&self, from: usize, to: usize) -> StorageResult<Vec<Command>> {
        self.0.get().0.get_entries(from, to)
    }

    fn get_log_len(&self) -> StorageResult<usize> {
        self.0.get().0.get_log_len()
    }

    fn get_suffix(&self, from: usize) -> StorageResult<Vec<Command>> {
        self.0.get().0.get_suffix(from)
    }

    fn get_promise(&self) -> StorageResult<Option<Ballot>> {
        self.0.get().0.get_promise()
    }

    fn set_stopsign(&mut self, stop_sign: Option<StopSign>) -> StorageResult<()> {
        self.0.change().0.set_stopsign(stop_sign)
    }

    fn get_stopsign(&self) -> StorageResult<Option<StopSign>> {
        self.0.get().0.get_stopsign()
    }

    fn trim(&mut self, index: usize) -> StorageResult<()> {
        self.0.change().0.trim(index)
    }

    fn set_compacted_idx(&mut self, index: usize) -> StorageResult<()> {
        self.0.change().0.set_compacted_idx(index)
    }

    fn get_compacted_idx(&self) -> StorageResult<usize> {
        self.0.get().0.get_compacted_idx()
    }

    fn set_snapshot(&mut self, snapshot: Option<NoSnapshot>) -> StorageResult<()> {
        self.0.change().0.set_snapshot(snapshot)
    }

    fn get_snapshot(&self) -> StorageResult<Option<NoSnapshot>> {
        self.0.get().0.get_snapshot()
    }
}
