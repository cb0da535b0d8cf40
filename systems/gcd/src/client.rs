//! The client: asks, and asks again.

use simutant_sim_core::{Address, Context, VirtualDuration};

use super::{GcdMessage, Request};

/// How often a client asks.
const TRIES: u32 = 3;

/// How long a client waits for an answer before it asks again, or gives up.
const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(500);

/// No answer came to any of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoResponse;

/// Asks a server for the greatest common divisor of `a` and `b`, and returns its answer.
///
/// # Errors
/// [`NoResponse`] if none came.
pub async fn client(context: Context<GcdMessage>, server: Address, a: u32, b: u32) -> Result<u32, NoResponse> {
    let mut channel = context.channel();
    for _ in 0..TRIES {
        channel.send(server, Request { a, b });
        if let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
            return Ok(delivery.message.into_response().gcd);
        }
    }
    Err(NoResponse)
}
