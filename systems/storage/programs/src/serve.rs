//! The server's program: connections and a log around [`Store`].

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use simutant_programs::quorum::Numbered;
use simutant_programs::{Log, LogError, ProgramError, Sending, read_checked_lines};

use super::behaviour::Behaviour;
use super::message::{Request, Write};
use super::store::Store;

/// How long to wait when the system has no connection to give.
const SHORTAGE: Duration = Duration::from_millis(10);

/// What a server is to do.
#[derive(Debug, Clone)]
pub struct Service {
    /// Where clients connect; port 0 stands for any that is free.
    pub listen: SocketAddr,
    /// The file of the log.
    pub log: PathBuf,
    /// Whether the log survives a crash of the machine, and not of the program alone.
    pub is_synced: bool,
}

/// Prints its address and `ready`, and answers clients until something fails.
///
/// # Errors
/// [`ProgramError`] if the log, the address or standard output does not work. What clients do is no error.
pub fn serve(service: &Service, behaviour: &'static dyn Behaviour) -> Result<(), ProgramError> {
    let listener = TcpListener::bind(service.listen).map_err(ProgramError::Socket)?;
    let address = listener.local_addr().map_err(ProgramError::Socket)?;
    let (log, lines) = Log::open(&service.log, service.is_synced)?;
    let write = |line: &String| line.parse::<Write>().map_err(|_| log.no_line(line));
    let writes: Vec<Write> = lines.iter().map(write).collect::<Result<_, _>>()?;
    let desk = Desk { store: Store::recover(writes, behaviour), log, gathered: 0, gathers: behaviour.gathers() };
    let (sender, failures) = channel();
    thread::spawn(move || accept(&listener, &Arc::new(Mutex::new(desk)), behaviour, &sender));
    let mut output = io::stdout();
    write!(output, "{address}\nready\n").and_then(|()| output.flush()).map_err(ProgramError::Output)?;
    failures.recv().map_or(Ok(()), |error| Err(error.into()))
}

/// Accepts connections, and answers each on a thread of its own.
fn accept(
    listener: &TcpListener,
    desk: &Arc<Mutex<Desk>>,
    behaviour: &'static dyn Behaviour,
    failures: &Sender<LogError>,
) {
    for stream in listener.incoming() {
        match stream {
            Ok(stream) => {
                let (desk, failures) = (Arc::clone(desk), failures.clone());
                thread::spawn(move || answer_client(&stream, &desk, behaviour).or_else(|error| failures.send(error)));
            }
            Err(_) => thread::sleep(SHORTAGE),
        }
    }
}

/// Answers a client until the connection breaks, or it says what no client says.
fn answer_client(stream: &TcpStream, desk: &Mutex<Desk>, behaviour: &dyn Behaviour) -> Result<(), LogError> {
    let Ok(sending) = stream.set_nodelay(true).and_then(|()| stream.try_clone()) else { return Ok(()) };
    let mut sending = Sending::checked(sending);
    let mut answered = Ok(());
    read_checked_lines(stream, behaviour.damaged(), |lines: Vec<Numbered<Request>>| {
        answered = desk.lock().expect("nobody panics who has it").answer(&lines, &mut sending);
        answered.is_ok() && sending.flush().is_ok()
    });
    answered
}

/// What the threads of all clients share. One at a time has it, and none sends an answer before the log has what the
/// answer depends on, also where another thread wrote it.
#[derive(Debug)]
struct Desk {
    store: Store,
    log: Log,
    /// How many writes are not in the log yet.
    gathered: usize,
    /// How many writes are appended together.
    gathers: usize,
}

impl Desk {
    /// Adds the answers to what is sent, once the log has what they depend on.
    fn answer(&mut self, lines: &[Numbered<Request>], sending: &mut Sending) -> Result<(), LogError> {
        for line in lines {
            let (write, reply) = self.store.answer(line.content);
            if let Some(write) = write {
                self.log.add(write);
                self.gathered += 1;
            }
            sending.add(Numbered { call: line.call, content: reply });
        }
        if self.gathered < self.gathers {
            return Ok(());
        }
        self.gathered = 0;
        self.log.flush()
    }
}
