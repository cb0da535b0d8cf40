//! Connections, each with a thread.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::behaviour::Behaviour;
use super::message::{Request, Response};
use super::store::Store;

/// How much is read at a time.
const PIECE_BYTES: usize = 16 * 1_024;

/// How long to wait when the system has no connection to give.
const SHORTAGE: Duration = Duration::from_millis(10);

/// Prints its address and `ready`, and serves all who connect; port 0 stands for any that is free.
///
/// # Errors
/// If the address cannot be listened on, or nobody reads what is printed.
pub fn serve(listen: SocketAddr, behaviour: &'static dyn Behaviour) -> io::Result<()> {
    let listener = TcpListener::bind(listen)?;
    let mut output = io::stdout().lock();
    writeln!(output, "{}\nready", listener.local_addr()?).and_then(|()| output.flush())?;
    let store = Arc::new(Mutex::new(Store::new(behaviour)));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(SHORTAGE);
            continue;
        };
        let store = Arc::clone(&store);
        // A connection that breaks is the client's matter.
        thread::spawn(move || _ = answer_all(stream, &store));
    }
    Ok(())
}

/// Answers the requests of a connection in their order.
fn answer_all(mut stream: TcpStream, store: &Mutex<Store>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut piece, mut received) = (vec![0; PIECE_BYTES], Vec::new());
    loop {
        match Request::parse(&received) {
            Ok(Some((request, length))) => {
                received.drain(..length);
                let response = store.lock().unwrap_or_else(PoisonError::into_inner).answer(&request);
                stream.write_all(&response.bytes(request.is_last))?;
                if request.is_last {
                    return Ok(());
                }
            }
            Ok(None) => match stream.read(&mut piece)? {
                0 => return Ok(()),
                length => received.extend_from_slice(&piece[..length]),
            },
            Err(status) => return stream.write_all(&Response::empty(status).bytes(true)),
        }
    }
}
