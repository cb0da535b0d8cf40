//! Checksums, and the random numbers that decide what to damage.

const POLYNOMIAL: u16 = 0x1021;

/// Returns the CRC-16 of `bytes`, with the polynomial of CCITT and the initial value 0xffff.
pub fn crc16(bytes: &[u8]) -> u16 {
    let mut crc = 0xffff_u16;
    for &byte in bytes {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= POLYNOMIAL;
            }
        }
    }
    crc
}

/// Returns `payload` with its checksum behind it.
pub fn seal(payload: &[u8]) -> Vec<u8> {
    let crc = crc16(payload);
    let mut sealed = payload.to_vec();
    sealed.push((crc >> 8) as u8);
    sealed.push((crc & 0xff) as u8);
    sealed
}

/// Returns the payload of what [`seal`] made; `None` if it has been damaged.
pub fn open(sealed: &[u8]) -> Option<&[u8]> {
    if sealed.len() < 2 {
        return None;
    }
    let (payload, trailer) = sealed.split_at(sealed.len() - 2);
    let expected = u16::from(trailer[0]) << 8 | u16::from(trailer[1]);
    if crc16(payload) == expected { Some(payload) } else { None }
}

/// A generator of random numbers: xorshift, with 64 bits of state.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Returns a number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.bits() >> 11) % bound
    }

    /// Returns true in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        percent > 0 && self.below(100) < percent
    }
}
