//! Messages as they go over the network (RFC 1035, section 4).

use std::fmt;
use std::net::Ipv4Addr;

use super::name::Name;

/// The longest message in a datagram (RFC 1035, section 4.2.1).
pub(super) const DATAGRAM_BYTES_MAX: usize = 512;

/// The class of the Internet.
const CLASS_IN: u16 = 1;

const HEADER_BYTES: usize = 12;

const QR: u16 = 1 << 15;
const OPCODE: u16 = 0b1111 << 11;
const AA: u16 = 1 << 10;
const TC: u16 = 1 << 9;
const RD: u16 = 1 << 8;
const RA: u16 = 1 << 7;
const RCODE: u16 = 0b1111;

pub(super) const NO_ERROR: u8 = 0;
pub(super) const SERVER_FAILURE: u8 = 2;
pub(super) const NAME_ERROR: u8 = 3;

/// The type of a record, by its number (RFC 1035, section 3.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type(pub u16);

impl Type {
    /// An address.
    pub const A: Self = Self(1);
    /// A server of a zone.
    pub const NS: Self = Self(2);
    /// The canonical name of an alias.
    pub const CNAME: Self = Self(5);
    /// The start of a zone.
    pub const SOA: Self = Self(6);
    const PTR: Self = Self(12);
    const MX: Self = Self(15);
    const SRV: Self = Self(33);

    /// Returns how many bytes are before, how many names between, and whether bytes may be after them in the data of a
    /// record.
    fn names(self) -> (usize, usize, bool) {
        match self {
            Self::NS | Self::CNAME | Self::PTR => (0, 1, false),
            Self::SOA => (0, 2, true),
            Self::MX => (2, 1, false),
            Self::SRV => (6, 1, false),
            _ => (0, 0, true),
        }
    }
}

/// What is asked, in the class of the Internet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The name.
    pub name: Name,
    /// The type.
    pub of: Type,
}

impl fmt::Display for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} type {}", self.name, self.of.0)
    }
}

/// A resource record of the class of the Internet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its owner.
    pub name: Name,
    /// Its type.
    pub of: Type,
    /// For how many seconds it may be kept.
    pub ttl: u32,
    /// Its data, in which names are whole.
    pub data: Vec<u8>,
}

impl Record {
    /// Returns the name that an NS or CNAME record leads to, or the first one of an SOA record.
    pub fn target(&self) -> Option<Name> {
        let is_name = matches!(self.of, Type::NS | Type::CNAME | Type::SOA);
        is_name.then(|| Name::decode(&self.data, 0)).flatten().map(|(name, _)| name)
    }

    /// Returns the address of an A record.
    pub fn address(&self) -> Option<Ipv4Addr> {
        let bytes: [u8; 4] = self.data.as_slice().try_into().ok()?;
        (self.of == Type::A).then(|| bytes.into())
    }

    /// Returns the last field of an SOA record: for how long its zone lets what is not there be remembered (RFC 2308,
    /// section 4).
    pub fn minimum(&self) -> Option<u32> {
        let bytes = self.data.last_chunk().filter(|_| self.of == Type::SOA)?;
        Some(u32::from_be_bytes(*bytes))
    }
}

/// A query or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The number of the query, which its response has as well.
    pub id: u16,
    /// Whether it is a response.
    pub is_response: bool,
    /// Whether the server has authority over the name.
    pub is_authoritative: bool,
    /// Whether something was left out, as the message would not have fitted in a datagram.
    pub is_truncated: bool,
    /// Whether whoever asks wants no referrals.
    pub wants_recursion: bool,
    /// The response code.
    pub rcode: u8,
    /// What is asked.
    pub question: Question,
    /// Records that answer the question.
    pub answer: Vec<Record>,
    /// Records that lead to those who know, or say why there is no answer.
    pub authority: Vec<Record>,
    /// Records that are of use with the others.
    pub additional: Vec<Record>,
}

impl Message {
    /// Returns a query.
    pub fn query(id: u16, question: Question) -> Self {
        Self {
            id,
            is_response: false,
            is_authoritative: false,
            is_truncated: false,
            wants_recursion: false,
            rcode: NO_ERROR,
            question,
            answer: Vec::new(),
            authority: Vec::new(),
            additional: Vec::new(),
        }
    }

    /// Returns the message that `bytes` are, `None` if they are none, or one of another kind than a question of this
    /// class.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let number = |place: usize| Some(u16::from_be_bytes([*bytes.get(place)?, *bytes.get(place + 1)?]));
        let flags = number(2)?;
        let counts = [number(6)?, number(8)?, number(10)?];
        let (name, place) = Name::decode(bytes, HEADER_BYTES)?;
        let question = Question { name, of: Type(number(place)?) };
        if number(4)? != 1 || flags & OPCODE != 0 || number(place + 2)? != CLASS_IN {
            return None;
        }
        let mut place = place + 4;
        let mut section = |count: u16| (0..count).map(|_| decode_record(bytes, &mut place)).collect::<Option<Vec<_>>>();
        let (answer, authority, additional) = (section(counts[0])?, section(counts[1])?, section(counts[2])?);
        let only_ours = |records: Vec<Option<Record>>| records.into_iter().flatten().collect();
        Some(Self {
            id: number(0)?,
            is_response: flags & QR != 0,
            is_authoritative: flags & AA != 0,
            is_truncated: flags & TC != 0,
            wants_recursion: flags & RD != 0,
            rcode: (flags & RCODE) as u8,
            question,
            answer: only_ours(answer),
            authority: only_ours(authority),
            additional: only_ours(additional),
        })
    }

    /// Returns the message as it goes through a stream.
    pub fn encode(&self) -> Vec<u8> {
        let flag = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
        let flags = flag(self.is_response, QR | RA)
            | flag(self.is_authoritative, AA)
            | flag(self.is_truncated, TC)
            | flag(self.wants_recursion, RD)
            | u16::from(self.rcode);
        let sections = [&self.answer, &self.authority, &self.additional];
        let [answer, authority, additional] = sections.map(|section| section.len() as u16);
        let mut bytes = Vec::new();
        for number in [self.id, flags, 1, answer, authority, additional] {
            bytes.extend(number.to_be_bytes());
        }
        self.question.name.encode(&mut bytes);
        bytes.extend([self.question.of.0, CLASS_IN].map(u16::to_be_bytes).concat());
        sections.into_iter().flatten().for_each(|record| self.encode_record(record, &mut bytes));
        bytes
    }

    /// Returns the message as it goes in a datagram: without records, and marked so, if it is too long for one.
    pub fn encode_for_datagram(&self) -> Vec<u8> {
        let bytes = self.encode();
        if bytes.len() <= DATAGRAM_BYTES_MAX {
            return bytes;
        }
        let none = Vec::new;
        Self { is_truncated: true, answer: none(), authority: none(), additional: none(), ..self.clone() }.encode()
    }

    fn encode_record(&self, record: &Record, bytes: &mut Vec<u8>) {
        // The one name that most records share is not written again.
        match record.name == self.question.name {
            true => bytes.extend([0b1100_0000, HEADER_BYTES as u8]),
            false => record.name.encode(bytes),
        }
        bytes.extend([record.of.0, CLASS_IN].map(u16::to_be_bytes).concat());
        bytes.extend(record.ttl.to_be_bytes());
        bytes.extend((record.data.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&record.data);
    }
}

/// Returns the record at `place`, which is moved behind it: `None` within if it is of another class, as that of EDNS
/// is.
fn decode_record(bytes: &[u8], place: &mut usize) -> Option<Option<Record>> {
    let (name, start) = Name::decode(bytes, *place)?;
    let fixed: [u8; 10] = bytes.get(start..start + 10)?.try_into().ok()?;
    let [type_high, type_low, class_high, class_low, ttl @ .., length_high, length_low] = fixed;
    let of = Type(u16::from_be_bytes([type_high, type_low]));
    let data = start + 10;
    *place = data + usize::from(u16::from_be_bytes([length_high, length_low]));
    let bytes = bytes.get(..*place)?;
    if u16::from_be_bytes([class_high, class_low]) != CLASS_IN {
        return Some(None);
    }
    let (before, names, has_more) = of.names();
    let mut whole = bytes.get(data..data + before)?.to_vec();
    let mut next = data + before;
    for _ in 0..names {
        let (name, end) = Name::decode(bytes, next)?;
        name.encode(&mut whole);
        next = end;
    }
    let rest = bytes.get(next..)?;
    if !has_more && !rest.is_empty() {
        return None;
    }
    whole.extend_from_slice(rest);
    Some(Some(Record { name, of, ttl: u32::from_be_bytes(ttl), data: whole }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().expect("it is a name")
    }

    fn message() -> Message {
        let question = Question { name: name("www.oak."), of: Type::A };
        let mut soa = Vec::new();
        name("ns.oak.").encode(&mut soa);
        name("host.oak.").encode(&mut soa);
        soa.extend([1_u32, 2, 3, 4, 5].map(u32::to_be_bytes).concat());
        Message {
            is_response: true,
            is_authoritative: true,
            wants_recursion: true,
            rcode: NAME_ERROR,
            answer: vec![Record { name: name("www.oak."), of: Type::A, ttl: 7, data: vec![1, 2, 3, 4] }],
            authority: vec![Record { name: name("oak."), of: Type::SOA, ttl: 9, data: soa }],
            ..Message::query(5, question)
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let message = message();
        assert_eq!(Message::decode(&message.encode()), Some(message.clone()));
        assert_eq!(message.answer[0].address(), Some(Ipv4Addr::new(1, 2, 3, 4)));
        assert_eq!(message.authority[0].minimum(), Some(5));
        assert_eq!(message.authority[0].target(), Some(name("ns.oak.")));
        let query = Message::query(6, message.question);
        assert_eq!(Message::decode(&query.encode()), Some(query));
    }

    #[test]
    fn names_in_data_are_made_whole() {
        let mut bytes = Message::query(5, Question { name: name("oak."), of: Type::MX }).encode();
        bytes[7] = 1;
        bytes.extend(b"\xc0\x0c\x00\x0f\x00\x01\x00\x00\x00\x09\x00\x08\x00\x0a\x03www\xc0\x0c");
        let found = Message::decode(&bytes).expect("it is a message");
        let expect = Record { name: name("oak."), of: Type::MX, ttl: 9, data: b"\x00\x0a\x03www\x03oak\x00".to_vec() };
        assert_eq!(found.answer, [expect]);
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        let bytes = message().encode();
        for length in 0..bytes.len() {
            assert_eq!(Message::decode(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn what_does_not_fit_in_a_datagram_is_left_out_and_said_so() {
        let mut long = message();
        assert_eq!(long.encode_for_datagram(), long.encode());
        long.answer = vec![long.answer[0].clone(); 40];
        let short = Message::decode(&long.encode_for_datagram()).expect("it is a message");
        assert!(short.is_truncated && short.answer.is_empty() && short.authority.is_empty());
        assert_eq!(short.question, long.question);
    }
}
