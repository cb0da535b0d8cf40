//! Addresses on a command line.

use std::net::SocketAddr;
use std::str::FromStr;

use super::Unreadable;

/// Addresses with commas between them; an empty text is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses(pub Vec<SocketAddr>);

impl FromStr for Addresses {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        text.split(',').map(|address| address.parse().map_err(|_| Unreadable)).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let addresses = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| address.parse().expect("an address"));
        assert_eq!("127.0.0.1:1,127.0.0.1:2".parse(), Ok(Addresses(addresses.to_vec())));
        assert_eq!("".parse(), Ok(Addresses(Vec::new())));
        assert_eq!("127.0.0.1".parse::<Addresses>(), Err(Unreadable));
    }
}
