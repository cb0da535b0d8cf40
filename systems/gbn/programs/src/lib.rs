//! Go-back-n over UDP: sends a file through a network that loses and duplicates datagrams.
//!
//! After Kurose and Ross, *Computer Networking: A Top-Down Approach*, section "Reliable data transfer". The file is cut
//! in segments, numbered from 0; the number after the last segment's is that of the end mark. The sender has a window
//! of packets in flight and one timer; when it runs out, the sender goes back to the oldest packet that is not
//! acknowledged. The receiver takes packets in order only, and answers each with the number that it expects next. The
//! window doubles with every window that is acknowledged without a timeout, after the first timeout it grows by one,
//! and with every timeout it is halved.
//!
//! How the two part: the receiver stays after the end mark and repeats its last acknowledgement, since that may have
//! been lost. The sender, once it has it, says goodbye a few times. One goodbye that arrives lets the receiver leave at
//! once; otherwise it leaves after a silence in which the sender would have tried again dozens of times.
//!
//! [`Sender`] and [`Receiver`] are the protocol, free of sockets and clocks; [`send_file`] and [`receive_file`] run
//! them, and [`passes`] runs both in virtual time. What a [`Behaviour`] decides is what the [`faults`] get wrong.

mod behaviour;
mod exchange;
pub mod faults;
mod packet;
mod receive;
mod receiver;
mod send;
mod sender;

pub use behaviour::{Arrival, Behaviour, Correct, Progress};
pub use exchange::{Direction, passes};
pub use packet::{Packet, SEGMENT_BYTES};
pub use receive::{ReceiveError, receive_file};
pub use receiver::{Answer, Receiver};
pub use send::{SendError, send_file};
pub use sender::{GaveUp, Sender};
