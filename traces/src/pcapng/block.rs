//! The blocks of a PCAP-NG file. All numbers are little-endian, which the section header says.

use std::net::Ipv4Addr;

use simutant_sim_core::VirtualTime;

/// Raw IP: a packet begins with its IP header.
const LINKTYPE_RAW: u16 = 101;

const OPTION_COMMENT: u16 = 1;
const OPTION_SECTION_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_INTERFACE_DESCRIPTION: u16 = 3;
const OPTION_INTERFACE_RESOLUTION: u16 = 9;
const OPTION_PACKET_FLAGS: u16 = 2;
const NAME_RECORD_IPV4: u16 = 1;

/// An interface of the capture, as its number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Interface {
    Sent = 0,
    Delivered = 1,
}

/// A block: its type and its body, without the lengths around it.
#[derive(Debug)]
pub(super) struct Block {
    kind: u32,
    body: Vec<u8>,
}

impl Block {
    fn new(kind: u32) -> Self {
        Self { kind, body: Vec::new() }
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.body.extend_from_slice(bytes);
        self
    }

    fn padded(self, bytes: &[u8]) -> Self {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.bytes(bytes).bytes(&[0; 3][..padding])
    }

    /// A value behind its code and its length; what is longer than a length can say is cut.
    fn field(self, code: u16, value: &[u8]) -> Self {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.bytes(&code.to_le_bytes()).bytes(&(value.len() as u16).to_le_bytes()).padded(value)
    }

    fn end_of_fields(self) -> Self {
        self.bytes(&[0; 4])
    }

    pub(super) fn write(&self, file: &mut Vec<u8>) {
        let length = u32::try_from(self.body.len() + 12).expect("a block holds at most a packet or all names");
        file.extend_from_slice(&self.kind.to_le_bytes());
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&self.body);
        file.extend_from_slice(&length.to_le_bytes());
    }
}

pub(super) fn section_header() -> Block {
    Block::new(0x0a0d_0d0a)
        .bytes(&0x1a2b_3c4d_u32.to_le_bytes())
        .bytes(&1_u16.to_le_bytes())
        .bytes(&0_u16.to_le_bytes())
        // The length of the section: not given.
        .bytes(&u64::MAX.to_le_bytes())
        .field(OPTION_SECTION_APPLICATION, b"Simutant")
        .end_of_fields()
}

pub(super) fn interface(name: &str, description: &str) -> Block {
    Block::new(1)
        .bytes(&LINKTYPE_RAW.to_le_bytes())
        .bytes(&[0; 2])
        // How much of a packet is kept: all.
        .bytes(&0_u32.to_le_bytes())
        .field(OPTION_INTERFACE_NAME, name.as_bytes())
        .field(OPTION_INTERFACE_DESCRIPTION, description.as_bytes())
        // Times are in units of 10^-9 seconds.
        .field(OPTION_INTERFACE_RESOLUTION, &[9])
        .end_of_fields()
}

/// A name ends with a zero byte, so it can have none, and it cannot be empty.
pub(super) fn name_resolution<'a>(names: impl Iterator<Item = (Ipv4Addr, &'a str)>) -> Block {
    let mut block = Block::new(4);
    for (address, name) in names.filter(|(_, name)| !name.is_empty()) {
        let name = name.replace('\0', "\u{2400}");
        let name = &name[..name.floor_char_boundary(usize::from(u16::MAX) - 5)];
        block = block.field(NAME_RECORD_IPV4, &[&address.octets()[..], name.as_bytes(), &[0]].concat());
    }
    block.end_of_fields()
}

pub(super) fn packet(interface: Interface, at: VirtualTime, bytes: &[u8], comments: &[String]) -> Block {
    let length = u32::try_from(bytes.len()).expect("an IP packet has at most 65,535 bytes");
    let nanos = at.as_nanos();
    let block = Block::new(6)
        .bytes(&(interface as u32).to_le_bytes())
        .bytes(&((nanos >> 32) as u32).to_le_bytes())
        .bytes(&(nanos as u32).to_le_bytes())
        .bytes(&length.to_le_bytes())
        .bytes(&length.to_le_bytes())
        .padded(bytes);
    let block = comments.iter().fold(block, |block, comment| block.field(OPTION_COMMENT, comment.as_bytes()));
    // The lowest two bits are the direction: in or out.
    let direction: u32 = match interface {
        Interface::Sent => 0b10,
        Interface::Delivered => 0b01,
    };
    block.field(OPTION_PACKET_FLAGS, &direction.to_le_bytes()).end_of_fields()
}
