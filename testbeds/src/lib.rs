//! How the test cases of Simutant's own systems become real programs on real networks.
//!
//! What each testbed asks of the sides of an implementation:
//!
//! | system | side | placeholders | must |
//! | --- | --- | --- | --- |
//! | `gbn` | `receiver` | `{listen}` = `{host}:{port}`, `{output}`, `{seed}` | bind the UDP port, write what it receives to the file `{output}` |
//! | `gbn` | `sender` | `{peer}` = `{peer_host}:{peer_port}`, `{input}`, `{seed}` | send the file `{input}` to the UDP address, go on until it has arrived |
//! | `lsr` | `router`, one for each | `{id}`, `{listen}` = `{host}:{port}`, `{neighbours}`, `{output}`, `{seed}` | bind the UDP port, get to know the network, forward messages, and add a line to the file `{output}` for each that is for itself |
//! | `lsr` | `client`, one for each message | `{peer}` = `{peer_host}:{peer_port}`, `{number}`, `{source}`, `{destination}`, `{seed}` | give the message to the router `{source}`, which receives at the UDP address, and end |
//! | `lsr` | `network`, instead of both | `{routers}`, `{links}`, `{messages}`, `{output}`, `{seed}` | play all routers and give them the messages, add lines to the files `{output}/router-1`, `{output}/router-2`, …, and end |
//! | `dns` | `resolver` | `{listen}` = `{host}:{port}`, `{hints}`, `{seed}` | bind the UDP and the TCP port, find out what it is asked from the servers of the root zone, which the zone file `{hints}` names |
//! A test case of `gbn` passes if both end as their `exit` says and `{output}` equals `{input}`. Implementations of
//! `gbn` run the test cases of `gbn-last-ack` and `gbn-thesis` as well: the inputs are the same.
//!
//! `{neighbours}` is a list such as `2=127.0.0.1:31001/3,4=127.0.0.1:31002/1`: for each neighbour its number, the
//! address that it is sent to, and also sends from, and the cost of the link. A line of a router's `{output}` is
//! `NUMBER SOURCE DESTINATION COST`, where the cost is the sum of those of the links that the message came through;
//! other routers may hear of it in whatever way. Routers start at different times, datagrams between them take 1 to 10
//! ms and are not lost. Clients are started when all routers are [`ready`](simutant_harness::Ready) and have been silent for a while, or
//! after a second at most. A test case of `lsr` passes if all end as their `exit` says, and each router delivered the
//! messages for it, each once and at the cost of the shortest path.
//!
//! Routers that know no other network than the system's are played by one side, `network`, that makes such a network
//! for them. `{routers}` is a list such as `1@13.021,2@4.500`: for each its number and after how many milliseconds it
//! starts. `{links}` has two routers and the cost in `1-2/3`, `{messages}` has number, source and destination in
//! `1:2-3`. What packets suffer on such a network is up to the side.
//!
//! A test case of `dns` brings its servers along: a process of NSD for each, with the zones of the test case, at
//! addresses of a loopback network that no other test case has, behind the lossy network. The resolver must be willing
//! to ask servers at such addresses, always at port 53, which only root may bind on most systems. Stubs ask it at the
//! times of the test case, without EDNS, by UDP and, if the answer is truncated, by TCP; where no answer comes, or one
//! that says that it could not be found out, they ask again for 20 s. It passes if every answer has the response code,
//! the aliases and the records that the name space has, with times to live up to the original ones, and, if something
//! is not there, the SOA record that says for how long that holds (RFC 2308, section 6). If packets were lost in the
//! run, a resolver may give up. See [`files`](simutant_harness::Side::files) for files of settings.
//!
//! # What is and what is not as in the simulation
//! The proxy of `gbn` drops and duplicates as the simulated network does: it decides first whether a datagram is
//! dropped, and only of one that is not whether it is duplicated, with the probabilities of the test case. The
//! simulated latency is not reproduced: the proxy passes datagrams on at once, both copies one after the other, and
//! does not reorder them. A mistake that only shows when packets take long or overtake each other may show in the
//! simulation and not here. Streams of random numbers differ, so a seed does not lose the same packets here as there.
//!
//! The links of `lsr` delay datagrams as the simulated network does, and in what order they arrive is decided by that:
//! the n-th datagram of a router takes as long as the n-th packet of the simulated router with the same test case does,
//! and what the machine adds. Routers start as far apart as there, too. A side that plays the whole network is told no
//! delays.
//!
//! Between a resolver and the servers of `dns` packets are lost and doubled as in the simulation, in both directions,
//! but take no time. Streams are whole. More is right than in the simulation, whose oracle knows the one resolver that
//! it judges: a real one may forget what it might keep, and so tell any time to live up to the original one, and say
//! whatever else it likes beside the answer.

mod dns;
mod gbn;
mod lsr;

use serde_json::Value;
use simutant_harness::{InvalidCase, Testbeds};
use simutant_sim_core::System;

use dns::DnsTestbed;
use gbn::{GBN, GBN_LAST_ACK, GBN_THESIS};
use lsr::{LsrNetworkTestbed, LsrTestbed};

/// The testbeds of all systems that come with Simutant.
pub const TESTBEDS: Testbeds =
    Testbeds::new(&[&GBN, &GBN_LAST_ACK, &GBN_THESIS, &LsrTestbed, &LsrNetworkTestbed, &DnsTestbed]);

/// Returns a test case of a system that is in its domain.
fn valid<S: System>(case: &Value) -> Result<S::TestCase, InvalidCase> {
    let case = serde_json::from_value(case.clone()).map_err(|error| InvalidCase::malformed(&error))?;
    S::validate(&case).map_err(InvalidCase::outside_domain)?;
    Ok(case)
}
