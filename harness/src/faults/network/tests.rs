//! Networks between programs of the tests, over real sockets.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use simutant_sim_core::network::{LinkSetting, Occurrences, Rule, ScheduledPartition};
use simutant_sim_core::{Link, Probability, network::Effect};

use super::*;
use crate::proxy::{CLIENTS_MAX, DatagramFates};
use crate::test_support::received;

#[test]
fn a_client_reaches_the_server_at_the_address_that_is_listened_on_and_late() {
    let (server, _listener) = any_loopback_port().expect("ports are free");
    server.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    let address = server.local_addr().expect("it is bound");
    let link = Link::constant(VirtualDuration::from_millis(40));
    let any: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let network = RealNetwork::between(any, address, &link.into(), 7).expect("the network starts");
    network.begin(Instant::now());
    let entry = network.entry("client", "server").expect("it is listened on");
    let client = UdpSocket::bind(any).expect("a port is free");
    client.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    let sent = Instant::now();
    client.send_to(b"ask", entry).expect("loopback accepts");
    let (_, from) = received(&server);
    server.send_to(b"answer", from).expect("loopback accepts");
    assert_eq!(received(&client), ("answer".into(), entry));
    assert!(sent.elapsed() >= Duration::from_millis(80), "both ways take 40 ms");
    let taken = RealNetwork::between(entry, address, &quick().into(), 7).expect_err("the address is taken");
    assert!(taken.to_string().contains("cannot listen on"), "{taken}");
}

#[test]
fn a_port_that_a_connection_has_is_passed_over() {
    let any = (Ipv4Addr::LOCALHOST, 0);
    let taken = loop {
        let taken = TcpListener::bind(any).expect("a port is free");
        if let Ok(socket) = UdpSocket::bind(taken.local_addr().expect("it is bound")) {
            break (taken, socket);
        }
    };
    let (held, mut first) = (taken.0, Some(taken.1));
    let datagrams = || first.take().map_or_else(|| Ok(UdpSocket::bind(any)?), Ok);
    let (socket, listener) = same_port(datagrams).expect("another one is free");
    assert!(first.is_none(), "the port that is taken was not tried");
    let addresses = [socket.local_addr(), listener.local_addr()].map(|address| address.expect("it is bound"));
    assert_eq!(addresses[0], addresses[1]);
    assert_ne!(addresses[0], held.local_addr().expect("it is bound"));
}

/// Returns a socket that waits for long.
fn bound(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).expect("there is such an address");
    socket.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    socket
}

/// Returns the network between clients at an address and a server, and where they reach it.
fn between(listen: &str, server: &UdpSocket, link: Link) -> (RealNetwork, SocketAddr) {
    let listen = listen.parse().expect("it is an address");
    let server = server.local_addr().expect("it is bound");
    let network = RealNetwork::between(listen, server, &link.into(), 7).expect("the network starts");
    let entry = network.entry("client", "server").expect("it is listened on");
    (network, entry)
}

#[test]
fn what_a_client_sends_is_forward_wherever_it_stands() {
    let server = bound("127.0.0.1:0");
    let program = |name: &str, addresses| NetworkProgram { name: name.into(), addresses };
    let address = server.local_addr().expect("it is bound");
    let programs = [program("server", vec![address]), program("client", vec![])];
    let network = RealNetwork::start(&programs, &Link::default().into(), 7, TimeScale::REAL).expect("it starts");
    let entry = network.entry("client", "server").expect("there is a way");
    bound("127.0.0.1:0").send_to(b"ask", entry).expect("loopback accepts");
    assert_eq!(received(&server).0, "ask");
    let ProxyCounts { forward, back, .. } = network.counts();
    assert_eq!((forward.received, back.received), (1, 0));
}

#[test]
fn each_client_of_a_server_has_an_address_of_its_own_and_gets_its_own_answers() {
    for address in ["127.0.0.1:0", "127.0.0.9:0", "[::1]:0"] {
        let (server, clients) = (bound(address), [bound(address), bound(address)]);
        let (network, entry) = between(address, &server, Link::default());
        let asked = [0, 1].map(|number| {
            clients[number].send_to(&[b'0' + number as u8], entry).expect("loopback accepts");
            received(&server)
        });
        assert_ne!(asked[0].1, asked[1].1, "{address}");
        // The one that asked first is answered last.
        for (text, source) in asked.iter().rev() {
            server.send_to(format!("for {text}").as_bytes(), source).expect("loopback accepts");
        }
        for (number, client) in clients.iter().enumerate() {
            assert_eq!(received(client), (format!("for {number}"), entry), "{address}");
        }
        let expect = DirectionCounts { received: 2, forwarded: 2, ..DirectionCounts::default() };
        // The last one is counted after it went out.
        while network.counts().back.forwarded < 2 {
            std::thread::yield_now();
        }
        assert_eq!(network.counts(), ProxyCounts { forward: expect, back: expect, connections: 0 }, "{address}");
    }
}

#[test]
fn an_answer_from_another_port_of_the_server_counts() {
    let (server, client, other) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let (network, entry) = between("127.0.0.1:0", &server, Link::default());
    client.send_to(b"ask", entry).expect("loopback accepts");
    let (_, source) = received(&server);
    other.send_to(b"answer", source).expect("loopback accepts");
    assert_eq!(received(&client), ("answer".into(), entry));
    assert_eq!(network.counts().back.received, 1);
}

#[test]
fn the_datagrams_of_all_clients_meet_the_fates_that_the_seed_draws() {
    let (server, clients) = (bound("127.0.0.1:0"), [bound("127.0.0.1:0"), bound("127.0.0.1:0")]);
    let [drop, duplicate] = [0.3, 0.4].map(|share| Probability::new(share).expect("a probability"));
    let link = Link { drop: drop.into(), duplicate, ..Link::default() };
    let (network, entry) = between("127.0.0.1:0", &server, link);
    let mut fates = DatagramFates::new(7, CLIENT, drop, duplicate);
    let (mut sent, mut copies) = (0_u16, 0);
    // The last one must arrive, so that the network has seen all of them.
    while sent < 300 || copies == 0 {
        sent += 1;
        clients[usize::from(sent % 2)].send_to(sent.to_string().as_bytes(), entry).expect("loopback accepts");
        copies = fates.draw().copies();
        for _ in 0..copies {
            assert_eq!(received(&server).0, sent.to_string());
        }
    }
    let counts = network.counts().forward;
    assert_eq!(counts.received, u64::from(sent));
    assert!(counts.dropped > 0 && counts.duplicated > 0, "{counts:?}");
}

#[test]
fn a_server_that_is_not_there_does_not_break_the_network() {
    let (server, client) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let (network, entry) = between("127.0.0.1:0", &server, Link::default());
    drop(server);
    for received in 1..=10 {
        client.send_to(b"anyone?", entry).expect("loopback accepts");
        while network.counts().forward.received < received {
            network.check().expect("it works");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_datagram_that_the_system_does_not_send_is_counted_and_its_reason_kept() {
    // One of IPv6 may be larger than any of IPv4.
    const BYTES: usize = 65_520;
    let (server, client) = (bound("127.0.0.1:0"), bound("[::1]:0"));
    let (network, entry) = between("[::1]:0", &server, Link::default());
    assert!(network.unsent().is_none());
    client.send_to(&vec![0; BYTES], entry).expect("loopback accepts");
    client.send_to(b"small", entry).expect("loopback accepts");
    assert_eq!(received(&server).0, "small");
    let counts = network.counts().forward;
    assert_eq!((counts.received, counts.dropped, counts.unsent), (2, 0, 1));
    let unsent = network.unsent().expect("one was not sent").to_string();
    let expect = format!("a datagram to {} could not be sent: ", server.local_addr().expect("it is bound"));
    assert!(unsent.starts_with(&expect), "{unsent}");
}

#[test]
fn a_client_too_many_makes_another_one_forgotten_which_is_counted() {
    let server = bound("127.0.0.1:0");
    let (network, entry) = between("127.0.0.1:0", &server, Link::default());
    // A port that is free again may come twice.
    let mut clients = BTreeSet::new();
    while clients.len() <= CLIENTS_MAX {
        assert_eq!(network.forgotten(), 0, "{} clients", clients.len());
        let client = bound("127.0.0.1:0");
        client.send_to(b"ask", entry).expect("loopback accepts");
        received(&server);
        clients.insert(client.local_addr().expect("it is bound"));
    }
    let ProxyCounts { forward, back, .. } = network.counts();
    assert_eq!((network.forgotten(), forward.forgotten, back.forgotten), (1, 1, 0));
}

#[test]
fn each_port_of_a_program_is_reached_over_the_network() {
    let [a, b] = [(); 2].map(|()| [bound("127.0.0.1:0"), bound("127.0.0.1:0")]);
    let program = |name: &str, sockets: &[UdpSocket]| NetworkProgram {
        name: name.to_owned(),
        addresses: sockets.iter().map(|socket| socket.local_addr().expect("it is bound")).collect(),
    };
    let programs = [program("a", &a), program("b", &b), program("client", &[])];
    let network = RealNetwork::start(&programs, &quick().into(), 7, TimeScale::REAL).expect("the network starts");
    let entry = |source, destination, port| network.entry_of_port(source, destination, port).expect("it is there");
    for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        a[from].send_to(b"ask", entry("a", "b", to)).expect("loopback accepts");
        let (_, source) = received(&b[to]);
        assert_eq!(source, entry("b", "a", from), "the other end knows the port by its own entry");
        b[to].send_to(b"answer", source).expect("loopback accepts");
        assert_eq!(received(&a[from]), ("answer".into(), entry("a", "b", to)));
    }
    assert_eq!(network.entry("a", "b"), network.entry_of_port("a", "b", 0));
    assert_eq!(network.entry_of_port("a", "b", 2), None);
    assert_eq!(network.entry("a", "client"), None);
    assert_eq!(network.counts().forward.received, 8);
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Two programs at one port each, a client, and the network between them.
struct World {
    sockets: [UdpSocket; 2],
    listeners: [TcpListener; 2],
    network: RealNetwork,
}

impl World {
    fn new(network: &Network) -> Self {
        Self::scaled(network, TimeScale::REAL)
    }

    fn scaled(network: &Network, scale: TimeScale) -> Self {
        let [(a, a_listener), (b, b_listener)] = [(); 2].map(|()| any_loopback_port().expect("ports are free"));
        let sockets = [a, b];
        for socket in &sockets {
            socket.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
        }
        let program = |name: &str, socket: Option<&UdpSocket>| NetworkProgram {
            name: name.to_owned(),
            addresses: socket.iter().map(|socket| socket.local_addr().expect("it is bound")).collect(),
        };
        let programs = [program("a", Some(&sockets[0])), program("b", Some(&sockets[1])), program("client", None)];
        let network = RealNetwork::start(&programs, network, 7, scale).expect("the network starts");
        Self { sockets, listeners: [a_listener, b_listener], network }
    }

    /// Returns a connection from the first program to the second, and its other end.
    fn connect(&self) -> [TcpStream; 2] {
        let near = TcpStream::connect(self.network.entry("a", "b").expect("they are linked")).expect("it is accepted");
        let (far, _) = self.listeners[1].accept().expect("it comes through");
        [near, far].map(|stream| {
            stream.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
            stream
        })
    }
}

fn quick() -> Link {
    Link::constant(VirtualDuration::from_micros(1))
}

/// A network that separates the programs at once, until so many milliseconds after the beginning.
fn separated(until_ms: u64) -> Network {
    let (from, until) = (VirtualTime::ZERO, Some(VirtualTime::from_millis(until_ms)));
    let partitions = vec![ScheduledPartition { from, until, groups: vec![vec!["a".into()]] }];
    Network { partitions, ..quick().into() }
}

#[test]
fn answers_go_back_to_the_socket_that_asked() {
    let world = World::new(&quick().into());
    let [a, b] = &world.sockets;
    let entry = |source, destination| world.network.entry(source, destination).expect("they are linked");
    a.send_to(b"from a", entry("a", "b")).expect("loopback accepts");
    let (said, of_a) = received(b);
    assert_eq!((said.as_str(), of_a), ("from a", entry("b", "a")), "its own address is the one to send to");
    let others = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free"));
    let mut seen = Vec::new();
    for (name, other) in ["first", "second"].iter().zip(&others) {
        other.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
        other.send_to(name.as_bytes(), entry("client", "b")).expect("loopback accepts");
        let (said, source) = received(b);
        assert_eq!(said, *name);
        seen.push(source);
    }
    for ((name, other), source) in ["first", "second"].iter().zip(&others).zip(&seen).rev() {
        b.send_to(format!("to {name}").as_bytes(), source).expect("loopback accepts");
        assert_eq!(received(other), (format!("to {name}"), entry("client", "b")));
    }
    b.send_to(b"to a", of_a).expect("loopback accepts");
    assert_eq!(received(a), ("to a".into(), entry("a", "b")));
    assert_ne!(seen[0], seen[1]);
    world.network.check().expect("it works");
    assert_eq!(world.network.counts().forward.received, 6);
}

#[test]
fn datagrams_are_lost_during_a_partition_and_arrive_when_it_has_healed() {
    let world = World::new(&separated(300));
    let [a, b] = &world.sockets;
    let entry = world.network.entry("a", "b").expect("they are linked");
    // Time stands still before the beginning, so the partition holds, however slow the machine is.
    for number in 0..5 {
        a.send_to(format!("{number}").as_bytes(), entry).expect("loopback accepts");
    }
    while world.network.counts().forward.received < 5 {
        std::thread::yield_now();
    }
    assert_eq!(world.network.counts().forward.dropped, 5);
    b.set_read_timeout(Some(Duration::from_millis(50))).expect("it is above 0");
    let began = Instant::now();
    world.network.begin(began);
    let mut buffer = [0; 8];
    while b.recv(&mut buffer).is_err() {
        assert!(began.elapsed() < PATIENCE, "it never heals");
        a.send_to(b"again", entry).expect("loopback accepts");
    }
    assert_eq!(&buffer[..5], b"again", "none of the first five");
    assert!(began.elapsed() >= Duration::from_millis(290), "{:?}", began.elapsed());
}

#[test]
fn connections_stall_during_a_partition_and_lose_nothing() {
    let world = World::new(&separated(400));
    let near = world.network.entry("a", "b").expect("they are linked");
    let mut near = TcpStream::connect(near).expect("the kernel accepts it");
    near.write_all(b"early").expect("the kernel takes it");
    let began = Instant::now();
    world.network.begin(began);
    let (mut far, _) = world.listeners[1].accept().expect("it comes through");
    let mut buffer = [0; 5];
    far.read_exact(&mut buffer).expect("it arrives");
    assert_eq!(&buffer, b"early");
    assert!(began.elapsed() >= Duration::from_millis(390), "{:?}", began.elapsed());
    far.write_all(b"back").expect("the kernel takes it");
    drop(far);
    let mut all = String::new();
    near.read_to_string(&mut all).expect("it ends");
    assert_eq!((all.as_str(), world.network.connections()), ("back", 1));
}

#[test]
fn what_is_on_its_way_when_a_partition_begins_does_not_arrive_during_it() {
    let partition = ScheduledPartition {
        from: VirtualTime::from_millis(100),
        until: Some(VirtualTime::from_millis(600)),
        groups: vec![vec!["a".into()]],
    };
    let link = Link::constant(VirtualDuration::from_millis(300));
    let world = World::new(&Network { partitions: vec![partition], ..link.into() });
    // Made before the beginning, when time stands still and nobody is separated.
    let [mut near, mut far] = world.connect();
    let [a, b] = &world.sockets;
    let began = Instant::now();
    world.network.begin(began);
    near.write_all(b"piece").expect("the kernel takes it");
    a.send_to(b"early", world.network.entry("a", "b").expect("they are linked")).expect("loopback accepts");
    // On a machine that is so slow nothing is shown.
    let is_early = began.elapsed() < Duration::from_millis(500);
    far.read_exact(&mut [0; 5]).expect("it is sent again");
    assert!(began.elapsed() >= Duration::from_millis(890), "{:?}", began.elapsed());
    a.send_to(b"late", world.network.entry("a", "b").expect("they are linked")).expect("loopback accepts");
    assert!(!is_early || received(b).0 == "late", "the early one is lost");
}

#[test]
fn connections_take_the_latency_of_the_link_each_way() {
    let world = World::new(&Link::constant(VirtualDuration::from_millis(60)).into());
    let [mut near, mut far] = world.connect();
    let began = Instant::now();
    near.write_all(b"x").expect("the kernel takes it");
    far.read_exact(&mut [0]).expect("it arrives");
    assert!(began.elapsed() >= Duration::from_millis(60), "{:?}", began.elapsed());
    far.write_all(b"y").expect("the kernel takes it");
    near.read_exact(&mut [0]).expect("it arrives");
    assert!(began.elapsed() >= Duration::from_millis(120), "{:?}", began.elapsed());
}

#[test]
fn much_data_arrives_whole_and_in_order_over_a_lossy_link() {
    let link = Link { drop: Probability::new(0.05).expect("a probability").into(), ..quick() };
    let world = World::new(&Network { links: vec![setting(link)], ..quick().into() });
    let [mut near, mut far] = world.connect();
    let sent: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let (writer, copy) = (near.try_clone().expect("a handle"), sent.clone());
    let writing = std::thread::spawn(move || {
        (&writer).write_all(&copy).and_then(|()| writer.shutdown(std::net::Shutdown::Write))
    });
    let mut received = Vec::new();
    far.read_to_end(&mut received).expect("it ends");
    writing.join().expect("no panic").expect("all is taken");
    assert!(received == sent, "{} bytes", received.len());
    // The other direction is still open.
    far.write_all(b"done").expect("the kernel takes it");
    let mut answer = [0; 4];
    near.read_exact(&mut answer).expect("it arrives");
    assert_eq!(&answer, b"done");
}

#[test]
fn a_receiver_that_reads_late_holds_the_sender_up_and_misses_nothing() {
    let world = World::new(&quick().into());
    let [near, mut far] = world.connect();
    // More than kernels and links hold.
    let sent: Vec<u8> = (0..6_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let copy = sent.clone();
    let writing = std::thread::spawn(move || (&near).write_all(&copy));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!writing.is_finished(), "it waits for the receiver");
    let mut received = Vec::new();
    far.read_to_end(&mut received).expect("it ends");
    writing.join().expect("no panic").expect("all is taken");
    assert!(received == sent, "{} bytes", received.len());
}

/// A setting for what goes from the first program to the second.
fn setting(link: Link) -> LinkSetting {
    let direction = simutant_sim_core::network::Direction::Forward;
    LinkSetting { from: Some("a".into()), to: Some("b".into()), direction, link }
}

#[test]
fn the_connections_of_a_program_are_reset_and_no_others() {
    let world = World::new(&quick().into());
    let [mut near, mut far] = world.connect();
    let client = TcpStream::connect(world.network.entry("client", "b").expect("they are linked"));
    let (mut client, (mut served, _)) =
        (client.expect("it is accepted"), world.listeners[1].accept().expect("it comes through"));
    world.network.reset("a");
    for stream in [&mut near, &mut far] {
        let error = stream.read(&mut [0]).expect_err("it is reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    client.write_all(b"x").expect("the kernel takes it");
    served.read_exact(&mut [0]).expect("it arrives");
}

#[test]
fn a_program_that_does_not_listen_resets_who_connects() {
    let World { sockets: _sockets, listeners, network } = World::new(&quick().into());
    drop(listeners);
    let mut near = TcpStream::connect(network.entry("a", "b").expect("they are linked")).expect("it is accepted");
    near.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    assert_eq!(near.read(&mut [0]).expect_err("it is reset").kind(), ErrorKind::ConnectionReset);
    network.check().expect("it works");
}

#[test]
fn a_connection_that_is_not_answered_holds_no_other_up() {
    let world = World::new(&quick().into());
    // The kernel leaves out who connects while more than these wait to be accepted.
    rustix::net::listen(&world.listeners[1], 0).expect("it can be asked for less");
    let full: Vec<TcpStream> = (0..3)
        .map(|_| TcpStream::connect(world.network.entry("a", "b").expect("they are linked")).expect("it is accepted"))
        .collect();
    let mut near = TcpStream::connect(world.network.entry("b", "a").expect("they are linked")).expect("it is accepted");
    let (mut far, _) = world.listeners[0].accept().expect("it comes through");
    near.write_all(b"x").expect("the kernel takes it");
    far.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    far.read_exact(&mut [0]).expect("it arrives");
    drop(full);
}

#[test]
fn a_connection_that_stalls_for_too_long_is_reset() {
    let rule = Rule { from: Some("a".into()), ..Rule::of(Effect::Drop) };
    let network = Network { rules: vec![rule], ..quick().into() };
    let [(a, _), (b, _listener)] = [(); 2].map(|()| any_loopback_port().expect("ports are free"));
    let program = |name: &str, socket: &UdpSocket| NetworkProgram {
        name: name.to_owned(),
        addresses: vec![socket.local_addr().expect("it is bound")],
    };
    // The 20 s of the simulation take 0.2 s.
    let scale = TimeScale::new(0.01).expect("above 0");
    let network =
        RealNetwork::start(&[program("a", &a), program("b", &b)], &network, 7, scale).expect("the network starts");
    network.begin(Instant::now());
    let mut near = TcpStream::connect(network.entry("a", "b").expect("they are linked")).expect("it is accepted");
    near.set_read_timeout(Some(PATIENCE)).expect("it is above 0");
    assert_eq!(near.read(&mut [0]).expect_err("it is reset").kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_connection_that_is_slow_and_goes_on_is_not_reset() {
    let drop = Probability::new(0.4).expect("a probability").into();
    let link = Link { drop, ..Link::constant(VirtualDuration::from_secs(1)) };
    // What waits behind lost pieces does so for more than the 20 s of the simulation, which take 1 s.
    let scale = TimeScale::new(0.05).expect("above 0");
    let world = World::scaled(&Network { links: vec![setting(link)], ..quick().into() }, scale);
    let [near, mut far] = world.connect();
    let sent = vec![7; 3 << 19];
    let copy = sent.clone();
    let writing = std::thread::spawn(move || (&near).write_all(&copy));
    let mut received = Vec::new();
    far.read_to_end(&mut received).expect("it ends");
    writing.join().expect("no panic").expect("all is taken");
    assert!(received == sent, "{} bytes", received.len());
}

#[test]
fn a_connection_passes_on_what_is_corrupted_if_it_is_told_to() {
    // The first packet begins the connection.
    let (from, occurrences) = (Some("a".into()), Occurrences::Only(2));
    let rule = Rule { from, occurrences, ..Rule::of(Effect::Corrupt) };
    for bits in [0, 1] {
        let world = World::new(&Network { rules: vec![rule.clone()], ..quick().into() });
        if bits > 0 {
            world.network.corrupt_streams(Random::from_seed(7));
        }
        let ([mut near, mut far], mut found) = (world.connect(), [0; 4]);
        near.write_all(b"text").expect("the kernel takes it");
        far.read_exact(&mut found).expect("it arrives");
        let changed = found.iter().zip(b"text").map(|(found, sent)| (found ^ sent).count_ones());
        assert_eq!(changed.sum::<u32>(), bits, "{found:?}");
    }
}

#[test]
fn what_is_corrupted_and_lost_is_sent_again_as_it_was() {
    let (from, occurrences) = (Some("a".into()), Occurrences::Only(2));
    let rule = Rule { from, occurrences, ..Rule::of(Effect::Corrupt) };
    // The text is on its way when the partition begins.
    let partition = ScheduledPartition {
        from: VirtualTime::from_millis(50),
        until: Some(VirtualTime::from_millis(1_000)),
        groups: vec![vec!["a".into()]],
    };
    let link = Link::constant(VirtualDuration::from_millis(100));
    let world = World::new(&Network { rules: vec![rule], partitions: vec![partition], ..link.into() });
    world.network.corrupt_streams(Random::from_seed(7));
    let ([mut near, mut far], mut found) = (world.connect(), [0; 4]);
    world.network.begin(Instant::now());
    near.write_all(b"text").expect("the kernel takes it");
    far.read_exact(&mut found).expect("it arrives");
    assert_eq!(found, *b"text");
}

#[test]
fn rules_about_kinds_are_said_and_the_others_hold() {
    let kind = Rule { kind: Some("ACK".into()), ..Rule::of(Effect::Drop) };
    let twice = Rule { from: Some("nobody".into()), ..Rule::of(Effect::Duplicate) };
    let corrupt = Rule { from: Some("a".into()), ..Rule::of(Effect::Corrupt) };
    let world = World::new(&Network { rules: vec![kind, twice, corrupt], ..quick().into() });
    assert_eq!(world.network.not_injected(), ["rule about ACK messages: the network does not know what programs send"]);
    let [a, b] = &world.sockets;
    a.send_to(b"text", world.network.entry("a", "b").expect("they are linked")).expect("loopback accepts");
    let (said, _) = received(b);
    let changed = said.bytes().zip(*b"text").filter(|(found, sent)| found != sent).count();
    assert_eq!((said.len(), changed), (4, 1), "{said}");
}
