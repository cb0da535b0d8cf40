//! A server socket on the loopback network, that blocks or does not, as `java.nio` has it: it is opened, bound, accepts
//! connections, and is closed.
//!
//! The machine has the authors' states and arrows. They count 17 transitions where there are 16 here: probably Modbat
//! counts where the condition of one of them leads as one more.
//!
//! A client sends two bytes and closes. A third byte that is read is the end of the stream, which the machine's
//! assertion does not know: some walks fail, as those of the authors did.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use simutant_models::{Instance, Machine, MachineError, Step, Stop, skip, transition};

/// How long a client or a read waits, in case something is wrong.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a call of a [`ServerSocket`] fails.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// It has no address yet.
    #[error("the socket is not bound")]
    NotYetBound,
    /// It was closed.
    #[error("the socket is closed")]
    Closed,
    /// The system says so.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A socket of the standard library, which can be there before it has an address, and after it was closed.
#[derive(Debug)]
pub struct ServerSocket {
    listener: Option<TcpListener>,
    is_blocking: bool,
    is_closed: bool,
}

impl ServerSocket {
    /// Returns a socket that has no address, and blocks.
    pub fn open() -> Self {
        Self { listener: None, is_blocking: true, is_closed: false }
    }

    /// Binds it to a free port of the loopback address.
    ///
    /// # Errors
    /// [`SocketError::Closed`], and what the system says.
    pub fn bind(&mut self) -> Result<(), SocketError> {
        if self.is_closed {
            return Err(SocketError::Closed);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(!self.is_blocking)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Says whether [`ServerSocket::accept`] waits for a connection.
    ///
    /// # Errors
    /// [`SocketError::Closed`], and what the system says.
    pub fn set_blocking(&mut self, is_blocking: bool) -> Result<(), SocketError> {
        if self.is_closed {
            return Err(SocketError::Closed);
        }
        self.is_blocking = is_blocking;
        match &self.listener {
            Some(listener) => Ok(listener.set_nonblocking(!is_blocking)?),
            None => Ok(()),
        }
    }

    /// Returns the next connection; `None` if it does not block and there is none.
    ///
    /// # Errors
    /// [`SocketError::Closed`], [`SocketError::NotYetBound`], and what the system says.
    pub fn accept(&self) -> Result<Option<TcpStream>, SocketError> {
        match self.bound()?.accept() {
            Ok((connection, _)) => Ok(Some(connection)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the address.
    ///
    /// # Errors
    /// [`SocketError::Closed`], [`SocketError::NotYetBound`], and what the system says.
    pub fn address(&self) -> Result<SocketAddr, SocketError> {
        Ok(self.bound()?.local_addr()?)
    }

    /// Closes it; what is closed stays closed.
    pub fn close(&mut self) {
        self.listener = None;
        self.is_closed = true;
    }

    fn bound(&self) -> Result<&TcpListener, SocketError> {
        match &self.listener {
            _ if self.is_closed => Err(SocketError::Closed),
            None => Err(SocketError::NotYetBound),
            Some(listener) => Ok(listener),
        }
    }
}

/// A socket, and what the machine knows of it.
#[derive(Debug)]
pub struct Server {
    socket: Option<ServerSocket>,
    connection: Option<TcpStream>,
}

impl Server {
    fn socket(&mut self) -> Result<&mut ServerSocket, SocketError> {
        self.socket.as_mut().ok_or(SocketError::Closed)
    }

    fn is_blocking(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| socket.is_blocking)
    }

    /// Connects, sends two bytes, and closes.
    fn client(&mut self) -> Result<(), SocketError> {
        let address = self.socket()?.address()?;
        let mut client = TcpStream::connect_timeout(&address, TIMEOUT)?;
        client.write_all(b"ab")?;
        Ok(())
    }

    fn accept(&mut self) -> Result<(), SocketError> {
        self.connection = self.socket()?.accept()?;
        if let Some(connection) = &self.connection {
            connection.set_nonblocking(false)?;
            connection.set_read_timeout(Some(TIMEOUT))?;
        }
        Ok(())
    }
}

/// Returns the machine.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn machine() -> Result<Machine<Server>, MachineError> {
    let open = async |server: &mut Server, _: &mut Step<'_>| {
        server.socket = Some(ServerSocket::open());
        Ok(())
    };
    let toggle = async |server: &mut Server, _: &mut Step<'_>| {
        let is_blocking = server.is_blocking();
        Ok::<(), Stop>(server.socket()?.set_blocking(!is_blocking)?)
    };
    let bind = async |server: &mut Server, _: &mut Step<'_>| Ok::<(), Stop>(server.socket()?.bind()?);
    let accept = async |server: &mut Server, _: &mut Step<'_>| Ok::<(), Stop>(server.accept()?);
    let connect = async |server: &mut Server, step: &mut Step<'_>| {
        step.require(server.is_blocking())?;
        server.client()?;
        server.accept()?;
        step.assert(server.connection.is_some(), "a socket that blocks returns a connection")
    };
    let start_client = async |server: &mut Server, step: &mut Step<'_>| {
        step.require(!server.is_blocking())?;
        Ok::<(), Stop>(server.client()?)
    };
    let maybe_accept = async |server: &mut Server, step: &mut Step<'_>| {
        if step.maybe() {
            server.accept()?;
        }
        Ok::<(), Stop>(())
    };
    let read = async |server: &mut Server, step: &mut Step<'_>| {
        let mut byte = [0];
        let count = match &mut server.connection {
            Some(connection) => connection.read(&mut byte)?,
            None => 0,
        };
        step.assert(count == 1, "there is a byte")
    };
    let disconnect = async |server: &mut Server, _: &mut Step<'_>| {
        server.connection = None;
        Ok(())
    };
    let close = async |server: &mut Server, _: &mut Step<'_>| {
        server.connection = None;
        server.socket()?.close();
        Ok::<(), Stop>(())
    };
    let transitions = [
        transition("reset -> open", open),
        transition("open -> open", toggle),
        transition("bound -> bound", toggle),
        transition("open -> bound", bind),
        transition("open -> err", accept)
            .throws("NotYetBound", |error: &SocketError| matches!(error, SocketError::NotYetBound)),
        transition("bound -> connected", connect),
        transition("bound -> accepting", start_client),
        transition("accepting -> accepting", maybe_accept).next_if("connected", |server| server.connection.is_some()),
        transition("connected -> connected", read),
        transition("connected -> bound", disconnect),
        skip("accepting -> bound"),
        transition("open | bound | accepting | closed -> closed", close),
        transition("closed -> err", accept)
            .throws("Closed", |error: &SocketError| matches!(error, SocketError::Closed)),
    ];
    let states = ["reset", "open", "bound", "connected", "accepting", "closed", "err"];
    let machine = Machine::new("server socket", states, transitions)?;
    Ok(machine.teardown(async |server: &mut Server| {
        server.connection = None;
        server.socket = None;
    }))
}

/// Returns an instance of the machine.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn instance() -> Result<Box<dyn Instance>, MachineError> {
    Ok(machine()?.with(Server { socket: None, connection: None }))
}
