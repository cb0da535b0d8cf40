//! The recursive resolver: finds out what stubs ask, several questions at a time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;

use simutant_sim_core::{Address, Context, Either2, FifoSender, Listener, Stream, fifo, select};

use super::cache::Cache;
use super::resolution::{Knowledge, Resolution};
use super::server::fit;
use super::{DnsMessage, Record};

/// Answers stubs on `port`, by datagram and by stream. `hints` lead to the root, and `routes` say what is reached at
/// which address.
pub async fn resolver(
    mut context: Context<DnsMessage>,
    port: u16,
    hints: Vec<Record>,
    routes: Rc<BTreeMap<Ipv4Addr, Address>>,
) {
    let mut channel = context.channel_at(port);
    let listener = context.listen(port);
    let knowledge = Rc::new(Knowledge { hints, routes, cache: RefCell::new(Cache::default()), id: Cell::new(0) });
    let knowledge_of_streams = knowledge.clone();
    context.spawn(|context| accept(context, listener, knowledge_of_streams));
    let (done, mut responses) = fifo();
    while context.running() {
        let next = select((channel.recv(), responses.recv())).await;
        match next {
            Either2::First(delivery) => {
                let (knowledge, done) = (knowledge.clone(), done.clone());
                context.spawn(|context| answer(context, knowledge, delivery.source, delivery.message, done));
            }
            Either2::Second(Some((stub, response))) => channel.send(stub, fit(response)),
            Either2::Second(None) => unreachable!("the main task keeps a sender"),
        }
    }
}

/// Answers one query, for the main task to send.
async fn answer(
    context: Context<DnsMessage>,
    knowledge: Rc<Knowledge>,
    stub: Address,
    query: DnsMessage,
    done: FifoSender<(Address, DnsMessage)>,
) {
    let response = resolve(context, knowledge, &query).await;
    done.send((stub, response));
}

async fn accept(mut context: Context<DnsMessage>, mut listener: Listener<DnsMessage>, knowledge: Rc<Knowledge>) {
    while context.running() {
        let stream = listener.accept().await;
        let knowledge = knowledge.clone();
        context.spawn(|context| serve(context, stream, knowledge));
    }
}

async fn serve(mut context: Context<DnsMessage>, mut stream: Stream<DnsMessage>, knowledge: Rc<Knowledge>) {
    loop {
        let received = stream.recv().await;
        let Ok(Some(query)) = received else { return };
        let knowledge = knowledge.clone();
        let child = context.spawn(|context| async move { resolve(context, knowledge, &query).await });
        let Ok(response) = child.await else { return };
        // A stream that is broken brings no more queries.
        _ = stream.send(response).await;
    }
}

/// Returns the response to a query of a stub.
async fn resolve(context: Context<DnsMessage>, knowledge: Rc<Knowledge>, query: &DnsMessage) -> DnsMessage {
    assert!(!query.is_response, "the resolver was sent {query:?}");
    let channel = context.channel();
    let mut resolution = Resolution { context, channel, knowledge };
    let outcome = resolution.resolve(&query.question, 0).await;
    let mut response = query.response();
    response.rcode = outcome.rcode;
    response.answer = outcome.answer;
    response.authority = outcome.authority;
    response
}
