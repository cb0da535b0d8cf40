//! The receiver: appends what comes next, and says what it has.

use simutant_sim_core::Context;

use super::{Ack, File, GbnMessage, SEGMENT_BYTES, SEQUENCE_NUMBERS};

/// Receives a file of `bytes` bytes on `port`, and appends it to `file`.
pub async fn receiver(context: Context<GbnMessage>, port: u16, file: File, bytes: u64) {
    let mut channel = context.channel_at(port);
    let mut next = 0;
    while context.running() {
        let delivery = channel.recv().await;
        let dat = delivery.message.into_dat();
        assert!(dat.length >= 1, "segment {} is empty", dat.sequence);
        assert!(dat.length <= SEGMENT_BYTES, "segment {} has {} bytes", dat.sequence, dat.length);
        assert!(dat.offset + u64::from(dat.length) <= bytes, "segment {} goes beyond the file", dat.sequence);
        if dat.sequence == next {
            assert_eq!(dat.offset, file.length(), "segment {} leaves a gap or overlaps", dat.sequence);
            file.append(dat.offset, dat.length);
            next = (next + 1) % SEQUENCE_NUMBERS;
        }
        channel.send(delivery.source, Ack { next });
    }
}
