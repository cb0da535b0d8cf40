//! The sender: a window of packets on their way, and one timer for the oldest of them.

use simutant_sim_core::{Address, Context, TimedOut, VirtualDuration};

use super::segments::Segments;
use super::window::SendWindow;
use super::{AcknowledgementRule, Dat, End, GaveUp, SEGMENT_BYTES, SEQUENCE_NUMBERS, TransferMessage};

/// How long the oldest packet may stay unacknowledged: much longer than a round trip, which takes 2 ms.
pub(super) const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(15);

/// How many timeouts in a row mean that the receiver is gone.
pub(super) const TRIES_MAX: u32 = 40;

/// How often the sender says goodbye. If all are lost the receiver waits in vain for some time, but nothing is wrong.
pub(super) const GOODBYES: u32 = 8;

/// Sends a file of `bytes` bytes to a receiver, and returns how many bytes of it were acknowledged: all.
///
/// The first packet opens the transfer, and the end mark closes it: it is sent again as all others are until it is
/// acknowledged. Then the sender says goodbye, so that the receiver need not stay.
///
/// # Errors
/// [`GaveUp`] if nothing new was acknowledged for `TRIES_MAX` timeouts in a row.
pub async fn sender(
    context: Context<TransferMessage>,
    receiver: Address,
    bytes: u64,
    rule: AcknowledgementRule,
) -> Result<u64, GaveUp> {
    let mut channel = context.channel();
    let mut segments = Segments::new(bytes);
    let mut window = SendWindow::new(bytes.div_ceil(u64::from(SEGMENT_BYTES)) as u32);
    let mut tries = 0;
    let mut deadline = context.now();
    context.phase("transfer");
    loop {
        if window.next == window.base {
            // Nothing is on its way: the packet that goes now will be the oldest.
            deadline = context.now() + TIMEOUT;
        }
        while window.has_room() {
            let sequence = window.next % SEQUENCE_NUMBERS;
            if window.next == window.end {
                context.phase("closing");
                channel.send(receiver, End { sequence });
            } else {
                let segment = segments.at(window.next - window.base);
                channel.send(receiver, Dat { sequence, offset: segment.offset, length: segment.length });
            }
            window.sent();
        }
        if window.base > window.end {
            break;
        }
        match channel.recv_timeout(deadline - context.now()).await {
            Ok(delivery) => {
                let news = rule.news(delivery.message.into_ack(), window.base);
                if news > 0 {
                    window.acknowledge(news);
                    segments.acknowledge(news);
                    tries = 0;
                    deadline = context.now() + TIMEOUT;
                }
            }
            Err(TimedOut) => {
                tries += 1;
                if tries == TRIES_MAX {
                    return Err(GaveUp);
                }
                window.go_back();
            }
        }
    }
    for _ in 0..GOODBYES {
        channel.send(receiver, TransferMessage::Bye);
    }
    Ok(segments.acknowledged)
}
