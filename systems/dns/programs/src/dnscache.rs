//! dnscache of djbdns, which listens at port 53 of the address that it is given and nowhere else.
//!
//! So it has an address of the test case's own, beside those of the servers that the hints name, and what comes to the
//! address where the resolver is asked is handed on.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::hints::Hints;
use super::message::{Message, Question, Type};

/// The last byte of the address that dnscache gets: no server of a test case has it.
const HOST: u8 = 253;
const PORT: u16 = 53;
/// Bytes that it may use for what it knows: its package's setting.
const CACHE_BYTES: u32 = 1_000_000;
/// It gives up before that.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long it may take to start.
const START: Duration = Duration::from_secs(30);
/// The longest datagram.
const DATAGRAM_BYTES: usize = 1 << 16;

/// Runs the program, dnscache, with a folder for its files, until this process is killed, or it ends by itself: that is
/// an error.
///
/// # Errors
/// If it cannot be started, or an address is unavailable.
pub fn serve(program: &Path, listen: SocketAddr, hints: &Hints, folder: &Path) -> io::Result<()> {
    let [first, second, third, _] = hints.0[0].octets();
    let address = SocketAddr::from(([first, second, third, HOST], PORT));
    write_files(hints, folder)?;
    let mut child = start(program, address, folder)?;
    wait_for_answer(address, &mut child)?;
    let streams = TcpListener::bind(listen)?;
    // The harness takes it for ready when this is bound.
    let datagrams = Arc::new(UdpSocket::bind(listen)?);
    thread::spawn(move || hand_on_streams(&streams, address));
    thread::spawn(move || hand_on_datagrams(&datagrams, address));
    let status = child.wait()?;
    Err(io::Error::other(format!("dnscache has ended: {status}")))
}

/// Writes the servers of the root, and who may ask.
fn write_files(hints: &Hints, folder: &Path) -> io::Result<()> {
    let (servers, clients) = (folder.join("servers"), folder.join("ip"));
    std::fs::create_dir_all(&servers)?;
    std::fs::create_dir_all(&clients)?;
    let lines: Vec<String> = hints.0.iter().map(|server| format!("{server}\n")).collect();
    std::fs::write(servers.join("@"), lines.concat())?;
    // An empty file lets an address ask.
    File::create(clients.join(Ipv4Addr::LOCALHOST.to_string())).map(drop)
}

fn start(program: &Path, address: SocketAddr, folder: &Path) -> io::Result<Child> {
    Command::new(program)
        .env("ROOT", folder)
        .env("IP", address.ip().to_string())
        .env("IPSEND", Ipv4Addr::UNSPECIFIED.to_string())
        .env("CACHESIZE", CACHE_BYTES.to_string())
        .envs([("UID", "0"), ("GID", "0")])
        // What its random numbers begin with.
        .stdin(File::open("/dev/urandom")?)
        .spawn()
}

/// Asks for a name that it knows by itself until it answers.
fn wait_for_answer(address: SocketAddr, child: &mut Child) -> io::Result<()> {
    let question = Question { name: "localhost.".parse().expect("a name"), of: Type::A };
    // It answers no others.
    let query = Message { wants_recursion: true, ..Message::query(1, question) }.encode();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let begun = Instant::now();
    while begun.elapsed() < START {
        if let Some(status) = child.try_wait()? {
            return Err(io::Error::other(format!("dnscache has ended: {status}")));
        }
        // As long as nobody listens, both are refused.
        if socket.send(&query).is_ok() && socket.recv(&mut [0; DATAGRAM_BYTES]).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(io::Error::other("dnscache does not answer"))
}

fn hand_on_datagrams(datagrams: &Arc<UdpSocket>, address: SocketAddr) {
    let mut buffer = [0; DATAGRAM_BYTES];
    // What fails for one client is refused to it, and is nothing to the others.
    loop {
        let Ok((length, client)) = datagrams.recv_from(&mut buffer) else { continue };
        let (query, datagrams) = (buffer[..length].to_vec(), Arc::clone(datagrams));
        thread::spawn(move || -> io::Result<()> {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(address)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.send(&query)?;
            let mut answer = [0; DATAGRAM_BYTES];
            let length = socket.recv(&mut answer)?;
            datagrams.send_to(&answer[..length], client).map(drop)
        });
    }
}

fn hand_on_streams(streams: &TcpListener, address: SocketAddr) {
    for stream in streams.incoming().flatten() {
        thread::spawn(move || -> io::Result<()> {
            let upstream = TcpStream::connect(address)?;
            let (from, to) = (stream.try_clone()?, upstream.try_clone()?);
            thread::spawn(move || copy(&from, &to));
            copy(&upstream, &stream);
            Ok(())
        });
    }
}

/// Hands on what comes, and its end.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    // An end in between is an end.
    _ = io::copy(&mut from, &mut to);
    _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn local_datagrams() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("it can wait");
        socket
    }

    #[test]
    fn each_client_gets_the_answer_to_its_own_datagram() {
        let (upstream, listen) = (local_datagrams(), Arc::new(local_datagrams()));
        let (there, here) = (upstream.local_addr().expect("bound"), listen.local_addr().expect("bound"));
        thread::spawn(move || hand_on_datagrams(&listen, there));
        let clients = [local_datagrams(), local_datagrams()];
        let mut asked = [(0, here); 2];
        for (client, number) in clients.iter().zip(0..) {
            client.send_to(&[number], here).expect("it is sent");
            let mut buffer = [0; 2];
            let (length, from) = upstream.recv_from(&mut buffer).expect("it is handed on");
            assert_eq!(buffer[..length], [number]);
            asked[usize::from(number)] = (number, from);
        }
        // The later one is answered first.
        for (number, from) in asked.into_iter().rev() {
            upstream.send_to(&[number, number], from).expect("it is sent");
        }
        for (client, number) in clients.iter().zip(0..) {
            let mut buffer = [0; 3];
            assert_eq!(client.recv_from(&mut buffer).expect("it is answered"), (2, here));
            assert_eq!(buffer[..2], [number; 2]);
        }
    }

    #[test]
    fn streams_are_handed_on_both_ways_and_end_where_they_end() {
        let local = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let (upstream, listen) = (local(), local());
        let (there, here) = (upstream.local_addr().expect("bound"), listen.local_addr().expect("bound"));
        thread::spawn(move || hand_on_streams(&listen, there));
        let mut client = TcpStream::connect(here).expect("it listens");
        client.write_all(b"query").expect("it is sent");
        client.shutdown(Shutdown::Write).expect("it is open");
        let (mut server, _) = upstream.accept().expect("it is handed on");
        let mut text = String::new();
        server.read_to_string(&mut text).expect("it ends");
        assert_eq!(text, "query");
        server.write_all(b"answer").expect("it is sent");
        drop(server);
        text.clear();
        client.read_to_string(&mut text).expect("it ends");
        assert_eq!(text, "answer");
    }

    #[test]
    fn it_gets_the_root_servers_and_a_client_in_files() {
        let folder = std::env::temp_dir().join(format!("simutant-dnscache-{}", std::process::id()));
        let hints = Hints(vec![[127, 1, 2, 1].into(), [127, 1, 2, 2].into()]);
        write_files(&hints, &folder).expect("it can be written");
        let servers = std::fs::read_to_string(folder.join("servers/@")).expect("it is there");
        let may_ask = folder.join("ip/127.0.0.1").exists();
        std::fs::remove_dir_all(&folder).expect("it is ours");
        assert_eq!((servers.as_str(), may_ask), ("127.1.2.1\n127.1.2.2\n", true));
    }
}
