//! The coordinator's program: connections, a log and timers around [`Coordinator`].
//!
//! Threads read what arrives, one for each connection; the main one does all else. It takes all that has arrived,
//! writes what that adds to the log, and only then sends what depends on it: many transactions share a write.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::{Log, ProgramError, Sending, read_lines};

use super::behaviour::Behaviour;
use super::coordinator::{Coordinator, Effect, Record};
use super::message::FromWorker;

/// How long votes are waited for, if nobody says otherwise.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// How many events are taken before what they cause is sent.
const BATCH: usize = 1_024;

/// How long a worker may take nothing before its connection is given up. It is told when it connects again.
const STALL: Duration = Duration::from_secs(1);

/// How long to wait when the system has no connection to give.
const SHORTAGE: Duration = Duration::from_millis(10);

/// What a coordinator is to do.
#[derive(Debug, Clone)]
pub struct Coordination {
    /// Where workers connect; port 0 stands for any that is free.
    pub listen: SocketAddr,
    /// How many workers there are.
    pub workers: usize,
    /// The file of the log.
    pub log: PathBuf,
    /// Whether the log survives a crash of the machine, and not of the program alone.
    pub is_synced: bool,
    /// How long votes are waited for.
    pub timeout: Duration,
    /// Who asks for transactions.
    pub source: Source,
}

/// Who asks for transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nobody: so many are carried out, one after the other. The program ends when all workers have acknowledged all.
    Count(u64),
    /// Standard input: a number in each line, of a transaction that begins at once. The program ends with it.
    Input,
}

/// What the main thread hears of the others. Workers have numbers from 0 on, connections those of their arrival.
enum Event {
    Connected(usize, u64, TcpStream),
    Heard(usize, Vec<FromWorker>),
    Left(usize, u64),
    Asked(Vec<u64>),
    InputEnded,
}

/// Prints its address, `ready`, and a line for each transaction that is completed; carries transactions out.
///
/// # Errors
/// [`ProgramError`] if the log, the address or standard output does not work. What workers do is no error.
pub fn coordinate(coordination: &Coordination, behaviour: &'static dyn Behaviour) -> Result<(), ProgramError> {
    let listener = TcpListener::bind(coordination.listen).map_err(ProgramError::Socket)?;
    let address = listener.local_addr().map_err(ProgramError::Socket)?;
    let (log, lines) = Log::open(&coordination.log, coordination.is_synced)?;
    let record = |line: &String| line.parse::<Record>().map_err(|_| log.no_line(line));
    let records: Vec<Record> = lines.iter().map(record).collect::<Result<_, _>>()?;
    let (sender, events) = channel();
    if coordination.source == Source::Input {
        let sender = sender.clone();
        thread::spawn(move || listen_to_input(&sender));
    }
    let workers = coordination.workers;
    thread::spawn(move || accept(&listener, workers, &sender));
    let mut desk = Desk {
        coordinator: Coordinator::recover(workers, records, behaviour),
        log,
        connections: (0..workers).map(|_| None).collect(),
        arrived: BTreeSet::new(),
        asked: VecDeque::new(),
        is_closed: false,
        timeout: coordination.timeout,
        timers: VecDeque::new(),
        output: format!("{address}\nready\n"),
    };
    loop {
        desk.go_on(coordination.source)?;
        if desk.is_over(coordination.source) {
            return Ok(());
        }
        desk.listen(&events);
    }
}

/// Reads numbers of transactions.
fn listen_to_input(sender: &Sender<Event>) {
    read_lines(io::stdin(), |asked| sender.send(Event::Asked(asked)).is_ok());
    _ = sender.send(Event::InputEnded);
}

/// Accepts connections, and reads from each on a thread of its own.
fn accept(listener: &TcpListener, workers: usize, sender: &Sender<Event>) {
    for (connection, stream) in (0..).zip(listener.incoming()) {
        match stream {
            Ok(stream) => {
                let sender = sender.clone();
                thread::spawn(move || listen_to_worker(&stream, connection, workers, &sender));
            }
            Err(_) => thread::sleep(SHORTAGE),
        }
    }
}

/// Reads what a worker says, which begins with who it is. A connection on which somebody says what no worker says is
/// closed.
fn listen_to_worker(stream: &TcpStream, connection: u64, workers: usize, sender: &Sender<Event>) {
    let mut known = None;
    read_lines(stream, |mut lines: Vec<FromWorker>| {
        if known.is_none() {
            let FromWorker::Worker(number) = lines.remove(0) else { return false };
            let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(STALL)));
            let Ok(sending) = prepared.and_then(|()| stream.try_clone()) else { return false };
            known = number.checked_sub(1).filter(|&worker| worker < workers);
            let Some(worker) = known else { return false };
            if sender.send(Event::Connected(worker, connection, sending)).is_err() {
                return false;
            }
        }
        let worker = known.expect("it said who it is");
        !lines.iter().any(|line| matches!(line, FromWorker::Worker(_)))
            && sender.send(Event::Heard(worker, lines)).is_ok()
    });
    // The other end hears of it, whoever else has the connection.
    _ = stream.shutdown(Shutdown::Both);
    if let Some(worker) = known {
        _ = sender.send(Event::Left(worker, connection));
    }
}

/// All that the main thread has.
struct Desk {
    coordinator: Coordinator,
    log: Log,
    /// The connection to each worker that is there, with its number.
    connections: Vec<Option<(u64, Sending)>>,
    /// Workers that have been there.
    arrived: BTreeSet<usize>,
    /// Transactions that wait for workers that have not been there.
    asked: VecDeque<u64>,
    /// Whether nobody will ask any more.
    is_closed: bool,
    timeout: Duration,
    /// When votes are no longer waited for, in order.
    timers: VecDeque<(Instant, u64)>,
    /// What is to be printed.
    output: String,
}

impl Desk {
    fn is_over(&self, source: Source) -> bool {
        match source {
            Source::Count(count) => self.coordinator.begun() >= count && self.coordinator.is_over(),
            Source::Input => self.is_closed,
        }
    }

    /// Does what there is to do.
    fn go_on(&mut self, source: Source) -> Result<(), ProgramError> {
        let now = Instant::now();
        while let Some((_, transaction)) = self.timers.pop_front_if(|(at, _)| *at <= now) {
            self.coordinator.time_out(transaction);
        }
        if self.arrived.len() == self.connections.len() {
            if let Source::Count(count) = source
                && self.coordinator.is_idle()
                && self.coordinator.begun() < count
            {
                self.asked.push_back(self.coordinator.begun());
            }
            for transaction in std::mem::take(&mut self.asked) {
                self.coordinator.begin(transaction);
                self.timers.push_back((now + self.timeout, transaction));
            }
        }
        for effect in self.coordinator.effects() {
            match effect {
                Effect::Write(record) => self.log.add(record),
                Effect::Send(worker, message) => {
                    if let Some((_, connection)) = &mut self.connections[worker] {
                        connection.add(message);
                    }
                }
                Effect::Completed(transaction, decision) => {
                    writeln!(self.output, "completed {transaction} {decision}").expect("memory takes all");
                }
            }
        }
        self.flush()
    }

    /// Writes the log, and then sends and prints what may depend on it.
    fn flush(&mut self) -> Result<(), ProgramError> {
        self.log.flush()?;
        for connection in &mut self.connections {
            if connection.as_mut().is_some_and(|(_, connection)| connection.flush().is_err()) {
                *connection = None;
            }
        }
        if self.output.is_empty() {
            return Ok(());
        }
        let mut output = io::stdout().lock();
        output.write_all(self.output.as_bytes()).and_then(|()| output.flush()).map_err(ProgramError::Output)?;
        self.output.clear();
        Ok(())
    }

    /// Waits until something happens, and takes all that has.
    fn listen(&mut self, events: &Receiver<Event>) {
        let first = match self.timers.front() {
            Some((at, _)) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        for event in first.into_iter().chain(events.try_iter().take(BATCH)) {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Connected(worker, number, stream) => {
                self.connections[worker] = Some((number, Sending::new(stream)));
                self.arrived.insert(worker);
                self.coordinator.connect(worker);
            }
            Event::Heard(worker, lines) => {
                for line in lines {
                    match line {
                        FromWorker::Vote(transaction, vote) => self.coordinator.vote(worker, transaction, vote),
                        FromWorker::Ack(transaction) => self.coordinator.acknowledge(worker, transaction),
                        FromWorker::Worker(_) => {}
                    }
                }
            }
            Event::Left(worker, number) => {
                let connection = &mut self.connections[worker];
                _ = connection.take_if(|(current, _)| *current == number);
            }
            Event::Asked(asked) => self.asked.extend(asked),
            Event::InputEnded => self.is_closed = true,
        }
    }
}
