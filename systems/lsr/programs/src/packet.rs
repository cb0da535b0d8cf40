//! The packets on the wire: a kind, and numbers in network byte order.

/// A router's number.
pub type RouterNumber = u8;

const HELLO: u8 = 0;
const LINK_STATE: u8 = 1;
const MESSAGE: u8 = 2;

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// A greeting to a neighbour.
    Hello,
    /// What a router tells of its links; it may have come through others.
    LinkState(LinkState),
    /// A message on its way.
    Message(Message),
}

/// The links of a router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// The router.
    pub origin: RouterNumber,
    /// Grows with each of the router's link states.
    pub sequence: u32,
    /// The links to the neighbours that have greeted it.
    pub links: Vec<LinkTo>,
}

/// A link, seen from one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkTo {
    /// The router at the other end.
    pub to: RouterNumber,
    /// What a message through the link costs.
    pub cost: u16,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Its number.
    pub number: u32,
    /// The router that it was given to.
    pub source: RouterNumber,
    /// The router that it is for.
    pub destination: RouterNumber,
    /// The sum of the costs of the links that it came through.
    pub cost: u32,
    /// How many links it came through.
    pub hops: u8,
}

impl Packet {
    /// Returns the packet as it is sent.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Hello => bytes.push(HELLO),
            Self::LinkState(LinkState { origin, sequence, links }) => {
                bytes.extend([LINK_STATE, *origin]);
                bytes.extend(sequence.to_be_bytes());
                for LinkTo { to, cost } in links {
                    bytes.push(*to);
                    bytes.extend(cost.to_be_bytes());
                }
            }
            Self::Message(Message { number, source, destination, cost, hops }) => {
                bytes.push(MESSAGE);
                bytes.extend(number.to_be_bytes());
                bytes.extend([*source, *destination]);
                bytes.extend(cost.to_be_bytes());
                bytes.push(*hops);
            }
        }
        bytes
    }

    /// Returns the packet in `bytes`, or `None` if there is none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [HELLO] => Some(Self::Hello),
            [LINK_STATE, origin, s0, s1, s2, s3, ref links @ ..] => {
                let (links, rest) = links.as_chunks::<3>();
                let link = |&[to, c0, c1]: &[u8; 3]| LinkTo { to, cost: u16::from_be_bytes([c0, c1]) };
                let links = links.iter().map(link).collect();
                let sequence = u32::from_be_bytes([s0, s1, s2, s3]);
                rest.is_empty().then_some(Self::LinkState(LinkState { origin, sequence, links }))
            }
            [MESSAGE, n0, n1, n2, n3, source, destination, c0, c1, c2, c3, hops] => Some(Self::Message(Message {
                number: u32::from_be_bytes([n0, n1, n2, n3]),
                source,
                destination,
                cost: u32::from_be_bytes([c0, c1, c2, c3]),
                hops,
            })),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(packet: Packet, expect: &[u8]) {
        assert_eq!(packet.encode(), expect);
        assert_eq!(Packet::decode(expect), Some(packet));
    }

    #[test]
    fn a_packet_is_bytes_and_back() {
        check(Packet::Hello, &[0]);
        let links = vec![LinkTo { to: 2, cost: 7 }, LinkTo { to: 3, cost: 258 }];
        check(Packet::LinkState(LinkState { origin: 1, sequence: 5, links }), &[1, 1, 0, 0, 0, 5, 2, 0, 7, 3, 1, 2]);
        check(Packet::LinkState(LinkState { origin: 9, sequence: 256, links: Vec::new() }), &[1, 9, 0, 0, 1, 0]);
        let message = Message { number: 1, source: 2, destination: 3, cost: 4, hops: 5 };
        check(Packet::Message(message), &[2, 0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5]);
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for bytes in
            [&[][..], &[3], &[0, 0], &[1, 1, 0, 0, 0], &[1, 1, 0, 0, 0, 5, 2, 0], &[2, 0, 0, 0, 1, 2, 3, 0, 0, 0, 4]]
        {
            assert_eq!(Packet::decode(bytes), None, "{bytes:?}");
        }
    }
}
