//! A file that crosses a bad link whole: stop-and-wait over packets that are lost, doubled, corrupted and overtaken.
//!
//! The sender sends a segment again until it is acknowledged. The receiver takes the segment that is next and
//! acknowledges whatever comes, so that a lost acknowledgement is made good. It cannot know that its last one arrived,
//! so it lingers. The run passes if the receiver returns the very file; how often segments were sent agrees with
//! the link's losses.

use simutant_sim_core::network::{Bandwidth, Reorder};
use simutant_sim_core::{
    Address, Channel, Context, Latency, Link, Message, Probability, Simulation, TimedOut, VirtualDuration,
};

/// How many bytes a segment carries.
const SEGMENT_BYTES: usize = 1_000;
const SEGMENTS: usize = 200;
/// How long the sender waits for an acknowledgement: more than a round trip takes, held back or not.
const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(200);
/// How long the receiver stays to answer a sender that did not hear it: long enough for many more tries.
const LINGER: VirtualDuration = VirtualDuration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TransferMessage {
    Segment {
        number: usize,
        bytes: Vec<u8>,
        is_last: bool,
    },
    /// Everything before segment `next` has arrived.
    Ack {
        next: usize,
    },
}

impl Message for TransferMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Segment { .. } => "SEGMENT",
            Self::Ack { .. } => "ACK",
        }
    }

    /// Twenty bytes of headers, and what the message carries.
    fn bytes(&self) -> u32 {
        match self {
            Self::Segment { bytes, .. } => 20 + bytes.len() as u32,
            Self::Ack { .. } => 20,
        }
    }
}

/// Sends a file, and returns how many segments that took.
async fn sender(context: Context<TransferMessage>, receiver: Address, file: Vec<u8>) -> usize {
    let mut channel = context.channel();
    let segments: Vec<&[u8]> = file.chunks(SEGMENT_BYTES).collect();
    let mut sent = 0;
    for (number, bytes) in segments.iter().enumerate() {
        let is_last = number + 1 == segments.len();
        loop {
            channel.send(receiver, TransferMessage::Segment { number, bytes: bytes.to_vec(), is_last });
            sent += 1;
            if acknowledged(&context, &mut channel, number).await.is_ok() {
                break;
            }
        }
    }
    sent
}

/// Waits until a segment is acknowledged. Acknowledgements of earlier ones, late or doubled, do not make the wait
/// longer.
async fn acknowledged(
    context: &Context<TransferMessage>,
    channel: &mut Channel<TransferMessage>,
    number: usize,
) -> Result<(), TimedOut> {
    let deadline = context.now() + TIMEOUT;
    loop {
        let delivery = channel.recv_timeout(deadline.since(context.now())).await?;
        let TransferMessage::Ack { next } = delivery.message else { panic!("the receiver sent a segment") };
        assert!(next <= number + 1, "segment {next} was not sent yet");
        if next == number + 1 {
            return Ok(());
        }
    }
}

/// Receives a file and returns it.
async fn receiver(context: Context<TransferMessage>, port: u16) -> Vec<u8> {
    let mut channel = context.channel_at(port);
    let (mut file, mut next, mut is_whole) = (Vec::new(), 0, false);
    loop {
        let delivery = match channel.recv_timeout(LINGER).await {
            Ok(delivery) => delivery,
            Err(TimedOut) if is_whole => return file,
            Err(TimedOut) => continue,
        };
        let TransferMessage::Segment { number, bytes, is_last } = delivery.message else {
            panic!("an ACK was sent here")
        };
        if number == next {
            file.extend(bytes);
            next += 1;
            is_whole = is_last;
        }
        channel.send(delivery.source, TransferMessage::Ack { next });
    }
}

fn main() {
    let probability = |value| Probability::new(value).expect("it is one");
    let mut simulation = Simulation::new(11);
    simulation.network(Link {
        latency: Latency::Uniform { min: VirtualDuration::from_millis(5), max: VirtualDuration::from_millis(10) },
        drop: probability(0.1).into(),
        duplicate: probability(0.1),
        corrupt: probability(0.1),
        reorder: Some(Reorder {
            probability: probability(0.2),
            hold: Latency::Constant(VirtualDuration::from_millis(50)),
        }),
        bandwidth: Some(Bandwidth { bits_per_second: 10_000_000, queue_packets_max: None }),
        ..Link::default()
    });
    let file: Vec<u8> = (0..SEGMENTS * SEGMENT_BYTES - 1).map(|position| (position % 251) as u8).collect();
    let to = simulation.address("receiver", 69);
    simulation.add("receiver", |context| receiver(context, 69)).expecting(file.clone());
    let sent = simulation.add("sender", move |context| sender(context, to, file)).returned();

    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    // A packet fails if it is lost or all its copies are corrupted: 0.1 + 0.9 * (0.9 * 0.1 + 0.1 * 0.1^2) = 0.182. Both
    // ways succeed in 0.669 of all tries: 299 segments on average, with a standard deviation of 12.
    let sent = *sent.get().expect("the sender returned");
    assert!((250..350).contains(&sent), "{sent} segments");
    // Each try that failed took a timeout.
    let lost = VirtualDuration::from_nanos(TIMEOUT.as_nanos() * (sent - SEGMENTS) as u64);
    assert!(report.ended_at.as_nanos() > (lost + LINGER).as_nanos(), "{}", report.ended_at);
}
