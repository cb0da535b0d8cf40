//! The receiver: appends what comes next, says what it has, and stays until the sender knows that it has all.

use simutant_sim_core::{Channel, Context, Delivery, TimedOut, VirtualDuration};

use super::{
    Acknowledgement, AcknowledgementRule, Dat, File, SEGMENT_BYTES, SEQUENCE_NUMBERS, SenderGone, TransferMessage,
};

/// The sequence number of the packet that opens a transfer.
const FIRST: u32 = 0;

/// How long the receiver waits for a sender that says nothing before the end mark has arrived: longer than a sender
/// goes on without an answer.
pub(super) const PATIENCE: VirtualDuration = VirtualDuration::from_secs(2);

/// How long it waits after the end mark: over 100 timeouts of a sender that lacks the last acknowledgement.
pub(super) const LINGER: VirtualDuration = VirtualDuration::from_secs(2);

/// Receives a file of `bytes` bytes on `port`, appends it to `file`, and returns how many bytes it has: all.
///
/// # Errors
/// [`SenderGone`] if the sender says goodbye before the end mark has arrived, or says nothing for `PATIENCE`.
pub async fn receiver(
    context: Context<TransferMessage>,
    port: u16,
    file: File,
    bytes: u64,
    rule: AcknowledgementRule,
) -> Result<u64, SenderGone> {
    let mut channel = context.channel_at(port);
    context.phase("opening");
    let (mut delivery, mut expected) = opening(&mut channel, rule).await?;
    context.phase("transfer");
    loop {
        let sequence = delivery.message.sequence().ok_or(SenderGone::Goodbye)?;
        if sequence == expected % SEQUENCE_NUMBERS {
            expected += 1;
            let TransferMessage::Dat(dat) = delivery.message else { break };
            append(&file, dat, bytes);
        }
        channel.send(delivery.source, rule.acknowledgement(expected));
        delivery = receive(&mut channel).await?;
    }
    context.phase("closing");
    let last = rule.acknowledgement(expected);
    channel.send(delivery.source, last);
    stay(&mut channel, last).await;
    Ok(file.length())
}

/// Waits for the packet that opens the transfer, and returns it with its number. What arrives before was sent after it,
/// and will be sent again.
async fn opening(
    channel: &mut Channel<TransferMessage>,
    rule: AcknowledgementRule,
) -> Result<(Delivery<TransferMessage>, u32), SenderGone> {
    loop {
        let delivery = receive(channel).await?;
        let sequence = delivery.message.sequence().ok_or(SenderGone::Goodbye)?;
        if sequence == FIRST {
            return Ok((delivery, sequence));
        }
        channel.send(delivery.source, rule.acknowledgement(FIRST));
    }
}

async fn receive(channel: &mut Channel<TransferMessage>) -> Result<Delivery<TransferMessage>, SenderGone> {
    channel.recv_timeout(PATIENCE).await.map_err(|TimedOut| SenderGone::Silence)
}

/// Appends the segment that comes next.
fn append(file: &File, dat: Dat, bytes: u64) {
    assert!(dat.length >= 1, "segment {} is empty", dat.sequence);
    assert!(dat.length <= SEGMENT_BYTES, "segment {} has {} bytes", dat.sequence, dat.length);
    assert!(dat.offset + u64::from(dat.length) <= bytes, "segment {} goes beyond the file", dat.sequence);
    assert_eq!(dat.offset, file.length(), "segment {} leaves a gap or overlaps", dat.sequence);
    file.append(dat.offset, dat.length);
}

/// Answers whatever comes with the last acknowledgement, since that may have been lost, until the sender says goodbye,
/// or says nothing for so long that all its goodbyes must have been lost.
async fn stay(channel: &mut Channel<TransferMessage>, last: Acknowledgement) {
    loop {
        let Ok(delivery) = channel.recv_timeout(LINGER).await else { break };
        channel.send(delivery.source, last);
        if delivery.message == TransferMessage::Bye {
            break;
        }
    }
}
