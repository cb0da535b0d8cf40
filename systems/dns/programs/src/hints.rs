//! Where to begin: the servers of the root, from a file.

use std::net::Ipv4Addr;
use std::str::FromStr;

use super::name::Name;

/// The servers of the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hints(pub Vec<Ipv4Addr>);

/// Why a file of hints cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintsError {
    /// A line is no NS record of the root, and no A record.
    Line(String),
    /// It has no address of a server.
    Nobody,
}

impl std::error::Error for HintsError {}

impl std::fmt::Display for HintsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => {
                write!(formatter, "`{line}` is no line of hints: `. TTL IN NS NAME`, or `NAME TTL IN A ADDRESS`")
            }
            Self::Nobody => formatter.write_str("the hints have no address of a server of the root"),
        }
    }
}

impl FromStr for Hints {
    type Err = HintsError;

    fn from_str(text: &str) -> Result<Self, HintsError> {
        let (mut hosts, mut addresses): (Vec<Name>, Vec<(Name, Ipv4Addr)>) = Default::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let invalid = || HintsError::Line(line.to_owned());
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let &[owner, ttl, "IN", record_type, data] = fields.as_slice() else { return Err(invalid()) };
            let owner: Name = owner.parse().map_err(|_| invalid())?;
            ttl.parse::<u32>().map_err(|_| invalid())?;
            match record_type {
                "NS" if owner.is_root() => hosts.push(data.parse().map_err(|_| invalid())?),
                "A" => addresses.push((owner, data.parse().map_err(|_| invalid())?)),
                _ => return Err(invalid()),
            }
        }
        addresses.retain(|(owner, _)| hosts.contains(owner));
        match addresses.is_empty() {
            true => Err(HintsError::Nobody),
            false => Ok(Self(addresses.into_iter().map(|(_, address)| address).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_the_addresses_of_servers_of_the_root() {
        let text =
            ". 60 IN NS a.\n. 60 IN NS b.oak.\na. 5 IN A 127.1.2.1\nb.oak. 5 IN A 127.1.2.2\nc. 5 IN A 127.1.2.3\n";
        assert_eq!(text.parse(), Ok(Hints(vec![[127, 1, 2, 1].into(), [127, 1, 2, 2].into()])));
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["oak. 60 IN NS a.", "a. x IN A 127.0.0.1", "a. 5 IN A here", "a. 5 IN", ". 5 IN NS a"] {
            assert_eq!(line.parse::<Hints>(), Err(HintsError::Line(line.to_owned())));
        }
        assert_eq!(". 60 IN NS a.".parse::<Hints>(), Err(HintsError::Nobody));
    }
}
