//! A reader of captures for the tests, written from the standards and not from the writer.

use std::net::{Ipv4Addr, SocketAddrV4};

#[derive(Debug, Default)]
pub(super) struct Capture {
    pub(super) interfaces: Vec<String>,
    pub(super) names: Vec<(Ipv4Addr, String)>,
    pub(super) packets: Vec<Read>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) interface: u32,
    pub(super) at_ns: u64,
    pub(super) source: SocketAddrV4,
    pub(super) destination: SocketAddrV4,
    pub(super) identification: u16,
    pub(super) contents: Vec<u8>,
    pub(super) comments: Vec<String>,
}

/// Reads a capture.
///
/// # Panics
/// If a length, a checksum, or anything else is not as the standards say.
pub(super) fn read(mut file: &[u8]) -> Capture {
    let mut capture = Capture::default();
    let mut blocks = 0;
    while !file.is_empty() {
        let (kind, length) = (u32_at(file, 0), u32_at(file, 4) as usize);
        assert!(length.is_multiple_of(4), "block {blocks} has {length} bytes");
        assert_eq!(u32_at(file, length - 4) as usize, length, "the lengths around block {blocks}");
        let body = &file[8..length - 4];
        assert_eq!(blocks == 0, kind == 0x0a0d_0d0a, "block {blocks} is of type {kind:x}");
        match kind {
            0x0a0d_0d0a => {
                assert_eq!((u32_at(body, 0), u16_at(body, 4)), (0x1a2b_3c4d, 1), "byte order and version");
                options(&body[16..]);
            }
            1 => {
                assert_eq!(u16_at(body, 0), 101, "raw IP");
                let options = options(&body[8..]);
                assert!(options.contains(&(9, &[9])), "nanoseconds");
                capture.interfaces.extend(options.iter().filter(|(code, _)| *code == 2).map(|(_, name)| text(name)));
            }
            4 => {
                for (code, record) in options(body) {
                    assert_eq!(code, 1, "an IPv4 record");
                    let (zero, name) = record[4..].split_last().expect("a name has its zero");
                    assert!(*zero == 0 && !name.is_empty() && !name.contains(&0), "{record:?}");
                    capture.names.push((address(&record[..4]), text(name)));
                }
            }
            6 => capture.packets.push(packet(body)),
            other => panic!("block {blocks} is of type {other}"),
        }
        file = &file[length..];
        blocks += 1;
    }
    capture
}

fn packet(body: &[u8]) -> Read {
    let length = u32_at(body, 12) as usize;
    assert_eq!(u32_at(body, 16) as usize, length, "nothing is cut by the capture");
    let bytes = &body[20..20 + length];
    let options = options(&body[20 + length.next_multiple_of(4)..]);
    let interface = u32_at(body, 0);
    let direction = options.iter().find(|(code, _)| *code == 2).map(|(_, flags)| u32_at(flags, 0));
    assert_eq!(direction, Some(if interface == 0 { 2 } else { 1 }), "out where it is sent, in where it arrives");

    assert_eq!((bytes[0], usize::from(u16::from_be_bytes([bytes[2], bytes[3]]))), (0x45, length), "version and length");
    assert_eq!(sum(bytes[..20].iter().copied()), 0xffff, "the checksum of the header");
    let (header, udp) = bytes.split_at(20);
    assert_eq!(header[9], 17, "UDP");
    assert_eq!(usize::from(u16::from_be_bytes([udp[4], udp[5]])), udp.len(), "the length of the datagram");
    assert_ne!([udp[6], udp[7]], [0, 0], "there is a checksum");
    let pseudo_header = header[12..20].iter().copied().chain([0, 17, udp[4], udp[5]]);
    assert_eq!(sum(pseudo_header.chain(udp.iter().copied())), 0xffff, "the checksum of the datagram");
    Read {
        interface,
        at_ns: u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)),
        source: SocketAddrV4::new(address(&header[12..16]), u16::from_be_bytes([udp[0], udp[1]])),
        destination: SocketAddrV4::new(address(&header[16..20]), u16::from_be_bytes([udp[2], udp[3]])),
        identification: u16::from_be_bytes([header[4], header[5]]),
        contents: udp[8..].to_vec(),
        comments: options.iter().filter(|(code, _)| *code == 1).map(|(_, comment)| text(comment)).collect(),
    }
}

/// Returns codes and values up to the end mark, after which there is nothing.
fn options(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut options = Vec::new();
    loop {
        let (code, length) = (u16_at(bytes, 0), usize::from(u16_at(bytes, 2)));
        bytes = &bytes[4..];
        if code == 0 {
            assert_eq!((length, bytes.len()), (0, 0), "the end mark ends the block");
            return options;
        }
        options.push((code, &bytes[..length]));
        bytes = &bytes[length.next_multiple_of(4)..];
    }
}

/// Returns the sum in ones' complement of 16-bit words: all ones over data that has its checksum.
fn sum(bytes: impl Iterator<Item = u8>) -> u16 {
    let mut sum: u16 = 0;
    for (index, byte) in bytes.enumerate() {
        let word = if index.is_multiple_of(2) { u16::from(byte) << 8 } else { u16::from(byte) };
        let (wrapped, carry) = sum.overflowing_add(word);
        sum = wrapped + u16::from(carry);
    }
    sum
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn address(bytes: &[u8]) -> Ipv4Addr {
    Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
