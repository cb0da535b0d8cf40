//! Mistakes that people make with go-back-n, by the part that is wrong. `--fault NAME` makes a program behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: the loss of a certain packet, several
//! losses together, a large or a small file. That is what makes the choice of test inputs matter. Classes of mistakes
//! are from bug reports and course work: "seen in" names them as OWNER/REPOSITORY#NUMBER of GitHub. No code is theirs.

mod acknowledgements;
mod content;
mod ending;
mod opening;
mod timer;
mod window;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 38] = [
    ("acknowledges-packet-zero", &opening::AcknowledgesPacketZero),
    ("answers-end-marks-only", &ending::AnswersEndMarksOnly),
    ("answers-last-two-packets", &acknowledgements::AnswersLastTwoPackets),
    ("begins-again-at-zero-only", &acknowledgements::BeginsAgainAtZeroOnly),
    ("begins-anew", &opening::BeginsAnew),
    ("counts-all-timeouts", &timer::CountsAllTimeouts),
    ("counts-arrivals", &ending::CountsArrivals),
    ("counts-one-segment-more", &content::CountsOneSegmentMore),
    ("counts-repeated-acks", &acknowledgements::CountsRepeatedAcks),
    ("ends-three-times", &timer::EndsThreeTimes),
    ("ends-unacknowledged", &ending::EndsUnacknowledged),
    ("fills-first-window", &window::FillsFirstWindow),
    ("fills-window-again", &window::FillsWindowAgain),
    ("four-sequence-numbers", &window::FourSequenceNumbers),
    ("gives-up-after-four-timeouts", &timer::GivesUpAfterFourTimeouts),
    ("grows-without-limit", &window::GrowsWithoutLimit),
    ("keeps-sixteen-packets", &window::KeepsSixteenPackets),
    ("learns-first-number", &opening::LearnsFirstNumber),
    ("leaves-after-end", &ending::LeavesAfterEnd),
    ("needs-goodbye", &ending::NeedsGoodbye),
    ("notes-four-hundred-times", &timer::NotesFourHundredTimes),
    ("one-packet-more", &window::OnePacketMore),
    ("opens-twice", &opening::OpensTwice),
    ("pads-short-segments", &content::PadsShortSegments),
    ("refuses-early-acknowledgements", &acknowledgements::RefusesEarlyAcknowledgements),
    ("repeats-last-ack-once", &ending::RepeatsLastAckOnce),
    ("reports-progress", &content::ReportsProgress),
    ("room-for-quarter-megabyte", &content::RoomForQuarterMegabyte),
    ("room-for-two-hundred-segments", &content::RoomForTwoHundredSegments),
    ("sends-end-mark-twice", &ending::SendsEndMarkTwice),
    ("stops-timer", &timer::StopsTimer),
    ("strips-white-space", &content::StripsWhiteSpace),
    ("takes-any-ack-for-last", &ending::TakesAnyAckForLast),
    ("takes-end-mark-early", &ending::TakesEndMarkEarly),
    ("takes-far-acks-for-old", &acknowledgements::TakesFarAcksForOld),
    ("takes-zero-for-nothing", &acknowledgements::TakesZeroForNothing),
    ("times-data-only", &timer::TimesDataOnly),
    ("times-full-windows", &timer::TimesFullWindows),
];
