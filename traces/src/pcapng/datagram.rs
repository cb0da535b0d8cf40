//! IPv4 packets with a UDP datagram (RFC 791, RFC 768).

use std::net::Ipv4Addr;

const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const PROTOCOL_UDP: u8 = 17;

/// The most contents that fit into an IPv4 packet.
const CONTENTS_MAX: usize = u16::MAX as usize - IP_HEADER - UDP_HEADER;

#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) source: (Ipv4Addr, u16),
    pub(super) destination: (Ipv4Addr, u16),
    pub(super) identification: u16,
    /// Longer contents than a datagram takes are cut, between letters.
    pub(super) contents: String,
}

impl Datagram {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let contents = &self.contents.as_bytes()[..self.contents.floor_char_boundary(CONTENTS_MAX)];
        let udp_length = UDP_HEADER + contents.len();
        let addresses = [self.source.0.octets(), self.destination.0.octets()].concat();

        let mut ip = vec![0x45, 0];
        ip.extend_from_slice(&((IP_HEADER + udp_length) as u16).to_be_bytes());
        ip.extend_from_slice(&self.identification.to_be_bytes());
        // No fragments; time to live; the checksum is put in below.
        ip.extend_from_slice(&[0x40, 0, 64, PROTOCOL_UDP, 0, 0]);
        ip.extend_from_slice(&addresses);
        let checksum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());

        let length = (udp_length as u16).to_be_bytes();
        let pseudo_header = [&addresses[..], &[0, PROTOCOL_UDP], &length].concat();
        let mut udp = [self.source.1.to_be_bytes(), self.destination.1.to_be_bytes(), length, [0, 0]].concat();
        udp.extend_from_slice(contents);
        // In UDP, 0 means that there is no checksum; all ones is the other zero.
        let checksum = match self::checksum(&[&pseudo_header, &udp]) {
            0 => u16::MAX,
            checksum => checksum,
        };
        udp[6..8].copy_from_slice(&checksum.to_be_bytes());
        [ip, udp].concat()
    }
}

/// Returns the internet checksum (RFC 1071) of parts of which all but the last have an even number of bytes.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0))).sum();
    // Twice: the first carry may make another.
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    !(folded as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // The example of RFC 1071, section 3: the sum of these bytes is ddf2.
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
        assert_eq!(checksum(&[&[0xff]]), !0xff00);
    }

    #[test]
    fn a_packet_is_laid_out_as_the_standards_say() {
        let source = (Ipv4Addr::new(10, 0, 0, 1), 5000);
        let destination = (Ipv4Addr::new(10, 0, 0, 2), 53);
        let bytes = Datagram { source, destination, identification: 0x0102, contents: "abc".to_owned() }.bytes();
        assert_eq!(bytes[..10], [0x45, 0, 0, 31, 1, 2, 0x40, 0, 64, 17]);
        assert_eq!(bytes[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(bytes[20..26], [0x13, 0x88, 0, 53, 0, 11]);
        assert_eq!(&bytes[28..], b"abc");
    }
}
