//! The connection to a server, which is opened again and again.

use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use super::numbered::Numbered;
use crate::connect;
use crate::lines::{Damaged, Sending, read_checked_lines};

/// How long to wait before connecting again.
const RETRY: Duration = Duration::from_millis(10);

/// How long a server may take nothing before its connection is given up. A request is much shorter than what the system
/// keeps for a server that is busy.
const STALL: Duration = Duration::from_millis(100);

/// What happened on a link.
#[derive(Debug)]
pub(super) struct Report {
    /// The place of the server in its configuration.
    pub(super) server: usize,
    /// The number of the call that it belongs to.
    pub(super) call: u64,
    pub(super) news: News,
}

/// What happened to a request.
#[derive(Debug)]
pub(super) enum News {
    /// The connection has taken it.
    Sent,
    /// The server has answered so.
    Reply(String),
}

/// A connection to a server. A thread of its own opens it and reads from it; whoever makes a request sends it.
#[derive(Debug)]
pub(super) struct Link {
    server: usize,
    reports: Sender<Report>,
    damaged: Damaged,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Sending>,
    /// The request of the call that goes on, if the server has not answered it.
    request: Option<Numbered<String>>,
    is_closed: bool,
}

impl Link {
    /// Returns the link to a server, which is to be closed, and begins to connect.
    pub(super) fn open(server: usize, address: SocketAddr, reports: Sender<Report>, damaged: Damaged) -> Arc<Self> {
        let link = Arc::new(Self { server, reports, damaged, state: Mutex::default() });
        let connecting = Arc::clone(&link);
        thread::spawn(move || {
            while !connecting.state().is_closed {
                if let Ok(stream) = connect(address) {
                    connecting.attend(&stream);
                }
                thread::sleep(RETRY);
            }
        });
        link
    }

    /// Sends a request, at once and on each new connection, until it is forgotten.
    pub(super) fn request(&self, line: Numbered<String>) {
        let mut state = self.state();
        state.request = Some(line);
        self.send(&mut state);
    }

    /// Sends the request no more: the server has answered, or the call is over.
    pub(super) fn forget(&self) {
        self.state().request = None;
    }

    /// Closes the connection and opens no other.
    pub(super) fn close(&self) {
        let mut state = self.state();
        (state.is_closed, state.connection) = (true, None);
    }

    /// Sends what there is to send, and reads from a new connection until it breaks.
    fn attend(&self, stream: &TcpStream) {
        let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(STALL)));
        let Ok(sending) = prepared.and_then(|()| stream.try_clone()) else { return };
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        state.connection = Some(Sending::checked(sending));
        self.send(&mut state);
        drop(state);
        read_checked_lines(stream, self.damaged, |lines: Vec<Numbered<String>>| {
            lines.into_iter().all(|line| self.report(line.call, News::Reply(line.content)))
        });
        self.state().connection = None;
    }

    /// Sends the request, if there is one and a connection.
    fn send(&self, state: &mut State) {
        let State { connection: Some(connection), request: Some(request), .. } = state else { return };
        connection.add(&request);
        if connection.flush().is_ok() {
            self.report(request.call, News::Sent);
        } else {
            // Whoever reads from it finds its end, and connects again.
            state.connection = None;
        }
    }

    /// Returns whether anybody listens.
    fn report(&self, call: u64, news: News) -> bool {
        self.reports.send(Report { server: self.server, call, news }).is_ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics who has it")
    }
}
