//! The client: publishes one message.

use simutant_sim_core::{Address, Context};

use super::{LsrMessage, Publication, RouterId};

/// Gives message `number` to the router `source`, which is at `router`, for the router `destination`.
pub async fn client(
    context: Context<LsrMessage>,
    router: Address,
    number: u32,
    source: RouterId,
    destination: RouterId,
) {
    let channel = context.channel();
    channel.send(router, Publication { number, source, destination, path_cost: 0 });
}
