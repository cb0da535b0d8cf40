//! An exchange: one query to one server, and its response.

use simutant_sim_core::{Address, Channel, Context, Either2, TimedOut, VirtualDuration, select};

use super::DnsMessage;

/// How long a stream may take to open, and how long the response may take then at least: four segments in a row can be
/// lost before that.
const STREAM_PATIENCE: VirtualDuration = VirtualDuration::from_secs(10);

/// Sends a query, and returns the response: `None` if none comes within `patience`.
///
/// One that is truncated is asked for again by a stream (RFC 1123, section 6.1.3.2).
pub(super) async fn exchange(
    context: &Context<DnsMessage>,
    channel: &mut Channel<DnsMessage>,
    server: Address,
    query: &DnsMessage,
    patience: VirtualDuration,
) -> Option<DnsMessage> {
    let deadline = context.now() + patience;
    channel.send(server, query.clone());
    loop {
        match channel.recv_timeout(deadline - context.now()).await {
            Ok(delivery) => {
                // Other messages are second copies, or late: they answer queries from before.
                if delivery.source == server && is_response_to(query, &delivery.message) {
                    if delivery.message.is_truncated {
                        return exchange_by_stream(context, server, query, patience.max(STREAM_PATIENCE)).await;
                    }
                    return Some(delivery.message);
                }
            }
            Err(TimedOut) => return None,
        }
    }
}

async fn exchange_by_stream(
    context: &Context<DnsMessage>,
    server: Address,
    query: &DnsMessage,
    patience: VirtualDuration,
) -> Option<DnsMessage> {
    let mut stream = context.connect(server, STREAM_PATIENCE).await.ok()?;
    stream.send(query.clone()).await.ok()?;
    let Either2::First(Ok(Some(response))) = select((stream.recv(), context.sleep(patience))).await else {
        return None;
    };
    assert!(is_response_to(query, &response), "{query:?} was answered by {response:?}");
    assert!(!response.is_truncated, "what came by a stream was truncated");
    Some(response)
}

/// Returns whether a message is a response, and to this query.
fn is_response_to(query: &DnsMessage, message: &DnsMessage) -> bool {
    message.is_response && message.id == query.id && message.question == query.question
}
