//! The server: answers from the zones that it has authority over.

use std::rc::Rc;

use simutant_sim_core::{Context, Listener, Stream};

use super::lookup::{Found, look_up, nearest_zone, records_of};
use super::{DATAGRAM_BYTES_MAX, DnsMessage, Rcode, Record, RecordData, RecordType, Zone};

/// Answers queries on `port` from `zones`, by datagram and by stream.
pub async fn server(mut context: Context<DnsMessage>, port: u16, zones: Rc<[Zone]>) {
    let mut channel = context.channel_at(port);
    let listener = context.listen(port);
    let zones_of_streams = zones.clone();
    context.spawn(|context| accept(context, listener, zones_of_streams));
    while context.running() {
        let delivery = channel.recv().await;
        let response = respond(&zones, &delivery.message);
        channel.send(delivery.source, fit(response));
    }
}

async fn accept(mut context: Context<DnsMessage>, mut listener: Listener<DnsMessage>, zones: Rc<[Zone]>) {
    while context.running() {
        let stream = listener.accept().await;
        let zones = zones.clone();
        // Each has a task of its own, for a client that is gone may never say so.
        context.spawn(|_| serve(stream, zones));
    }
}

async fn serve(mut stream: Stream<DnsMessage>, zones: Rc<[Zone]>) {
    loop {
        let received = stream.recv().await;
        let Ok(Some(query)) = received else { return };
        let response = respond(&zones, &query);
        // A stream that is broken brings no more queries.
        _ = stream.send(response).await;
    }
}

/// Returns the response to a query (RFC 1034, section 4.3.2).
pub(super) fn respond(zones: &[Zone], query: &DnsMessage) -> DnsMessage {
    assert!(!query.is_response, "a server was sent {query:?}");
    let mut response = query.response();
    let mut name = query.question.name.clone();
    let Some(mut zone) = nearest_zone(zones, &name) else {
        response.rcode = Rcode::Refused;
        return response;
    };
    loop {
        match look_up(zone, &name, query.question.record_type) {
            Found::Records(records) => {
                response.is_authoritative = true;
                response.answer.extend(records);
                break;
            }
            Found::Alias(record, canonical) => {
                response.is_authoritative = true;
                response.answer.push(record);
                name = canonical;
                match nearest_zone(zones, &name) {
                    Some(nearest) => zone = nearest,
                    // Whoever asks goes on with other servers.
                    None => break,
                }
            }
            Found::Delegation(servers) => {
                // Authority, if there is any, is over the alias that led here.
                response.authority = servers;
                break;
            }
            Found::NoData => {
                response.is_authoritative = true;
                response.authority.push(negative_soa(zone));
                break;
            }
            Found::NameError => {
                response.is_authoritative = true;
                response.rcode = Rcode::NameError;
                response.authority.push(negative_soa(zone));
                break;
            }
        }
    }
    response.additional = addresses(zones, response.answer.iter().chain(&response.authority));
    response
}

/// Returns the SOA record that goes with a negative answer: it lives as long as that (RFC 2308, section 3).
fn negative_soa(zone: &Zone) -> Record {
    let mut record = zone.soa().clone();
    if let RecordData::Soa(soa) = &record.data
        && record.ttl > soa.minimum
    {
        record.ttl = soa.minimum;
    }
    record
}

/// Returns the addresses of the hosts that records lead to, as far as they are known here.
fn addresses<'a>(zones: &[Zone], records: impl Iterator<Item = &'a Record>) -> Vec<Record> {
    let mut addresses = Vec::new();
    for host in records.filter_map(|record| record.data.host()) {
        if let Some(zone) = nearest_zone(zones, host) {
            addresses.extend(records_of(zone, host, RecordType::A));
        }
    }
    addresses
}

/// Returns a response as a datagram can hold it: without what is only of use, or else empty and marked as truncated
/// (RFC 2181, section 9).
pub(super) fn fit(mut response: DnsMessage) -> DnsMessage {
    if response.wire_bytes() > DATAGRAM_BYTES_MAX {
        response.additional.clear();
    }
    if response.wire_bytes() > DATAGRAM_BYTES_MAX {
        response.answer.clear();
        response.authority.clear();
        response.is_truncated = true;
    }
    assert!(response.wire_bytes() <= DATAGRAM_BYTES_MAX, "a response of {} bytes", response.wire_bytes());
    response
}
