//! Lines that end in their checksum.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::lines::Unreadable;

/// A line whose last word is the CRC-32 of what comes before: it tells whether the line was damaged on its way.
///
/// # Examples
/// ```
/// use simutant_programs::Checked;
///
/// assert_eq!(Checked::new("read 7").to_string(), "read 7 47878763");
/// let read = |line: &str| line.parse::<Checked<String>>().expect("two words").intact();
/// assert_eq!(read("read 7 47878763"), Some("read 7".to_owned()));
/// assert_eq!(read("read 6 47878763"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked<T> {
    content: T,
    is_intact: bool,
}

impl<T> Checked<T> {
    /// Returns a line that says this.
    pub fn new(content: T) -> Self {
        Self { content, is_intact: true }
    }

    /// Returns what the line says, unless it was damaged.
    pub fn intact(self) -> Option<T> {
        self.is_intact.then_some(self.content)
    }

    /// Returns what the line says, damaged or not.
    pub fn trusted(self) -> T {
        self.content
    }
}

impl<T: Display> Display for Checked<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let text = self.content.to_string();
        write!(formatter, "{text} {:08x}", crc32(text.as_bytes()))
    }
}

impl<T: FromStr> FromStr for Checked<T> {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let (text, checksum) = line.rsplit_once(' ').ok_or(Unreadable)?;
        let is_intact = checksum == format!("{:08x}", crc32(text.as_bytes()));
        Ok(Self { content: text.parse().map_err(|_| Unreadable)?, is_intact })
    }
}

/// Returns the checksum of Ethernet and of many files: the remainder by the polynomial 0x04c11db7, bits reversed.
fn crc32(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for byte in bytes {
        remainder ^= u32::from(*byte);
        for _ in 0..u8::BITS {
            remainder = remainder >> 1 ^ if remainder & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !remainder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_is_noticed() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the value that catalogues of checksums give");
        let line = Checked::new("write 12 3 1 7").to_string();
        let read = |line: &[u8]| str::from_utf8(line).ok()?.parse::<Checked<String>>().ok()?.intact();
        assert_eq!(read(line.as_bytes()), Some("write 12 3 1 7".to_owned()));
        for bit in 0..8 * line.len() {
            let mut damaged = line.clone().into_bytes();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&damaged), None, "{bit}");
        }
    }
}
