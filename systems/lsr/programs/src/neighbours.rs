//! The neighbours of a router, as its command line names them: `2=127.0.0.1:31001/3,4=127.0.0.1:31002/1`.

use std::net::SocketAddr;
use std::str::FromStr;

use super::packet::{LinkTo, RouterNumber};

/// A router at the other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Its number.
    pub number: RouterNumber,
    /// Where it is sent to, and sends from.
    pub address: SocketAddr,
    /// What a message through the link costs.
    pub cost: u16,
}

impl Neighbour {
    /// Returns the link to it.
    pub fn link(&self) -> LinkTo {
        LinkTo { to: self.number, cost: self.cost }
    }
}

/// A list of neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbours(pub Vec<Neighbour>);

/// A text is no list of neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighboursError;

impl FromStr for Neighbours {
    type Err = NeighboursError;

    fn from_str(text: &str) -> Result<Self, NeighboursError> {
        let neighbour = |text: &str| {
            let (number, rest) = text.split_once('=')?;
            let (address, cost) = rest.split_once('/')?;
            Some(Neighbour { number: number.parse().ok()?, address: address.parse().ok()?, cost: cost.parse().ok()? })
        };
        let neighbours: Option<_> = text.split(',').filter(|text| !text.is_empty()).map(neighbour).collect();
        neighbours.map(Self).ok_or(NeighboursError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_number_address_and_cost() {
        let Neighbours(found) = "2=127.0.0.1:31001/3,4=127.0.0.1:31002/1".parse().expect("a list");
        assert_eq!(
            found.iter().map(|one| (one.number, one.address.port(), one.cost)).collect::<Vec<_>>(),
            [(2, 31_001, 3), (4, 31_002, 1)]
        );
        assert_eq!("".parse(), Ok(Neighbours(Vec::new())));
        for text in ["2", "2=127.0.0.1:31001", "x=127.0.0.1:31001/3", "2=nowhere/3", "2=127.0.0.1:31001/x"] {
            assert_eq!(text.parse::<Neighbours>(), Err(NeighboursError), "{text}");
        }
    }
}
