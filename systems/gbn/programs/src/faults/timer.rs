//! Mistakes with the timer, and with how often it may run out.

use crate::behaviour::{Behaviour, Progress};

/// The sender stops its timer with each acknowledgement, and starts it with the next packet that it sends.
///
/// There mostly is a next packet. At the end of the file there is none, and what is still in flight has no timer. Shows
/// when a packet among the last ones is lost, or its acknowledgement. Seen in: Zephyr, where "at any ack, the
/// retransmission timer was cancelled" (zephyrproject-rtos/zephyr#60880); smoltcp (smoltcp-rs/smoltcp#660).
#[derive(Debug)]
pub(super) struct StopsTimer;

impl Behaviour for StopsTimer {
    fn restarts_timer(&self, _progress: &Progress) -> bool {
        false
    }
}

/// The sender has a timer for data, and none for the end mark.
///
/// Data is what may be lost. Shows when the end mark is lost or its acknowledgement, and nothing else is in flight. Seen
/// in: tricep, which tracks data as unacknowledged, but not the packet that closes (ausimian/tricep#27); Zephyr
/// (zephyrproject-rtos/zephyr#8188).
#[derive(Debug)]
pub(super) struct TimesDataOnly;

impl Behaviour for TimesDataOnly {
    fn starts_timer(&self, progress: &Progress) -> bool {
        progress.next < progress.packets
    }

    fn restarts_timer(&self, progress: &Progress) -> bool {
        progress.base < progress.next && progress.base + 1 < progress.packets
    }
}

/// The sender starts its timer when the window is full.
///
/// That is when it has to wait. A file that is shorter than the first window never fills it, nor do the last packets of
/// others. Shows when these are lost before an acknowledgement starts the timer. Seen in: tqftpserv, which answered full
/// windows only, and hung at the last, short one (linux-msm/tqftpserv#37).
#[derive(Debug)]
pub(super) struct TimesFullWindows;

impl Behaviour for TimesFullWindows {
    fn starts_timer(&self, progress: &Progress) -> bool {
        progress.next >= progress.base + progress.window
    }
}

/// The sender gives up after forty timeouts in all, where it should count those since the last progress.
///
/// A limit on tries is kept in one counter, and nobody resets it when an acknowledgement arrives: with the small files
/// and good networks of a first trial it never gets far. Shows with large files on bad networks. Seen in: libosdp, whose
/// retries added up over an hour (osdp-dev/libosdp#230).
#[derive(Debug)]
pub(super) struct CountsAllTimeouts;

impl Behaviour for CountsAllTimeouts {
    fn gives_up(&self, progress: &Progress) -> bool {
        progress.timeouts_in_all >= 40
    }
}

/// The sender gives up after four timeouts in a row.
///
/// A few tries look like plenty, as they are for a single request and answer. But a file has hundreds of packets, and
/// each of them may be the unlucky one; and with a small window a lost acknowledgement costs a try as well. Shows with
/// large files on bad networks.
#[derive(Debug)]
pub(super) struct GivesUpAfterFourTimeouts;

impl Behaviour for GivesUpAfterFourTimeouts {
    fn gives_up(&self, progress: &Progress) -> bool {
        progress.timeouts_in_a_row >= 4
    }
}

/// The sender gives up when the end mark has timed out three times.
///
/// The file is there, the rest is courtesy, and three tries are the custom. Shows when three tries of the end mark are
/// lost, with their answers. Seen in: Zephyr, which asked for "more than 1 FIN message, minimally 3"
/// (zephyrproject-rtos/zephyr#44507); PyPXE's three tries (pypxe/PyPXE#56).
#[derive(Debug)]
pub(super) struct EndsThreeTimes;

impl Behaviour for EndsThreeTimes {
    fn gives_up(&self, progress: &Progress) -> bool {
        progress.base + 1 == progress.packets && progress.timeouts_in_a_row >= 3
    }
}

/// The sender has room for the times of four hundred transmissions.
///
/// It notes when each was made, to measure how long answers take, and counts on sending few packets again. Shows with
/// large files on bad networks. Seen in: ELKS, where what is kept for sending again ran out of memory
/// (ghaerr/elks#755).
#[derive(Debug)]
pub(super) struct NotesFourHundredTimes;

impl Behaviour for NotesFourHundredTimes {
    fn may_send(&self, progress: &Progress) -> bool {
        assert!(progress.transmissions <= 400, "no room for the time of transmission {}", progress.transmissions);
        progress.next < progress.packets && progress.next < progress.base + progress.window
    }
}
