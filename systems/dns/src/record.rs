//! Resource records.
//!
//! The ten types are those that the thesis simulates ("the basic resource record types", section 4.1.3.1) as far as
//! they are in use: SRV (RFC 2782) stands for WKS, which RFC 1123, section 2.2, advises against and which servers of
//! today do not load.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Name;

/// What a name has: a line of a zone file (RFC 1035, section 5), which is also its form in JSON:
/// `www.example. 300 IN A 198.18.0.7`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Record {
    /// The name, which is called the owner.
    pub name: Name,
    /// For how many seconds it may be kept in a cache.
    pub ttl: u32,
    /// The type, and what the name has of it.
    pub data: RecordData,
}

/// The type of a record, which a question asks for, in the order of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordType {
    /// An address.
    A,
    /// A server of a zone.
    Ns,
    /// The name that this one is an alias of.
    Cname,
    /// The start of a zone of authority.
    Soa,
    /// A pointer to a name: what an address belongs to.
    Ptr,
    /// What a host is.
    Hinfo,
    /// A mail exchange.
    Mx,
    /// Texts.
    Txt,
    /// An address of version 6 (RFC 3596).
    Aaaa,
    /// Where a service is (RFC 2782).
    Srv,
}

/// The data of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordData {
    /// An address.
    A(Ipv4Addr),
    /// The host of a server of the zone.
    Ns(Name),
    /// The canonical name.
    Cname(Name),
    /// The zone's start.
    Soa(Arc<Soa>),
    /// The name that is pointed to.
    Ptr(Name),
    /// The host's processor, and its system.
    Hinfo(Arc<str>, Arc<str>),
    /// The exchange's preference, the lowest first, and its host.
    Mx(u16, Name),
    /// Texts of at most 255 letters.
    Txt(Arc<[String]>),
    /// An address.
    Aaaa(Ipv6Addr),
    /// Priority, weight and port of a service, and its host.
    Srv(u16, u16, u16, Name),
}

/// The data of the record that a zone starts with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Soa {
    /// The host of the zone's first server.
    pub mname: Name,
    /// The mailbox of who is responsible, with a dot for the at sign.
    pub rname: Name,
    /// The version of the zone.
    pub serial: u32,
    /// After how many seconds a secondary server looks for a new version.
    pub refresh: u32,
    /// After how many seconds it tries again.
    pub retry: u32,
    /// After how many seconds it gives the zone up.
    pub expire: u32,
    /// For how many seconds it may be kept in a cache that something is not there (RFC 2308, section 4).
    pub minimum: u32,
}

/// A text that is no [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRecord {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl RecordType {
    /// All types.
    pub const ALL: [Self; 10] =
        [Self::A, Self::Ns, Self::Cname, Self::Soa, Self::Ptr, Self::Hinfo, Self::Mx, Self::Txt, Self::Aaaa, Self::Srv];

    /// Returns the type's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Ns => "NS",
            Self::Cname => "CNAME",
            Self::Soa => "SOA",
            Self::Ptr => "PTR",
            Self::Hinfo => "HINFO",
            Self::Mx => "MX",
            Self::Txt => "TXT",
            Self::Aaaa => "AAAA",
            Self::Srv => "SRV",
        }
    }
}

impl Record {
    /// Returns the record's type.
    pub fn record_type(&self) -> RecordType {
        self.data.record_type()
    }

    /// Returns how many bytes it takes in a packet (RFC 1035, section 3.2.1), without compression of names.
    pub fn wire_bytes(&self) -> usize {
        self.name.wire_bytes() + 10 + self.data.wire_bytes()
    }
}

impl RecordData {
    /// Returns the type of a record that has it.
    pub fn record_type(&self) -> RecordType {
        match self {
            Self::A(_) => RecordType::A,
            Self::Ns(_) => RecordType::Ns,
            Self::Cname(_) => RecordType::Cname,
            Self::Soa(_) => RecordType::Soa,
            Self::Ptr(_) => RecordType::Ptr,
            Self::Hinfo(..) => RecordType::Hinfo,
            Self::Mx(..) => RecordType::Mx,
            Self::Txt(_) => RecordType::Txt,
            Self::Aaaa(_) => RecordType::Aaaa,
            Self::Srv(..) => RecordType::Srv,
        }
    }

    /// Returns the host whose addresses are of use to who asks for this: a server, a mail exchange, a service's host.
    pub fn host(&self) -> Option<&Name> {
        match self {
            Self::Ns(host) | Self::Mx(_, host) | Self::Srv(.., host) => Some(host),
            _ => None,
        }
    }

    fn wire_bytes(&self) -> usize {
        match self {
            Self::A(_) => 4,
            Self::Ns(name) | Self::Cname(name) | Self::Ptr(name) => name.wire_bytes(),
            Self::Soa(soa) => soa.mname.wire_bytes() + soa.rname.wire_bytes() + 20,
            Self::Hinfo(cpu, os) => cpu.len() + os.len() + 2,
            Self::Mx(_, exchange) => 2 + exchange.wire_bytes(),
            Self::Txt(texts) => texts.iter().map(|text| text.len() + 1).sum(),
            Self::Aaaa(_) => 16,
            Self::Srv(.., target) => 6 + target.wire_bytes(),
        }
    }

    fn parse(record_type: RecordType, fields: &mut Fields<'_>) -> Result<Self, String> {
        Ok(match record_type {
            RecordType::A => Self::A(fields.next("an address")?),
            RecordType::Ns => Self::Ns(fields.next("a host")?),
            RecordType::Cname => Self::Cname(fields.next("a canonical name")?),
            RecordType::Soa => Self::Soa(Arc::new(Soa {
                mname: fields.next("a host")?,
                rname: fields.next("a mailbox")?,
                serial: fields.next("a serial number")?,
                refresh: fields.next("a time of refreshing in seconds")?,
                retry: fields.next("a time of trying again in seconds")?,
                expire: fields.next("a time of expiry in seconds")?,
                minimum: fields.next("a time of negative caching in seconds")?,
            })),
            RecordType::Ptr => Self::Ptr(fields.next("a name")?),
            RecordType::Hinfo => Self::Hinfo(fields.text("a processor")?.into(), fields.text("a system")?.into()),
            RecordType::Mx => Self::Mx(fields.next("a preference")?, fields.next("a host")?),
            RecordType::Txt => {
                let mut texts = vec![fields.text("a text")?.to_owned()];
                while !fields.rest.is_empty() {
                    texts.push(fields.text("a text")?.to_owned());
                }
                Self::Txt(texts.into())
            }
            RecordType::Aaaa => Self::Aaaa(fields.next("an address of version 6")?),
            RecordType::Srv => {
                let (priority, weight) = (fields.next("a priority")?, fields.next("a weight")?);
                Self::Srv(priority, weight, fields.next("a port")?, fields.next("a host")?)
            }
        })
    }
}

/// What is left of a line.
struct Fields<'a> {
    rest: &'a str,
}

impl<'a> Fields<'a> {
    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        let (word, rest) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
        if word.is_empty() {
            return Err(format!("{what} is missing, or spaces are more than one"));
        }
        self.rest = rest;
        Ok(word)
    }

    fn next<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{word:?} is not {what}"))
    }

    /// Returns the next text, which is between quotation marks, and has none in it.
    fn text(&mut self, what: &str) -> Result<&'a str, String> {
        let found = self.rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let Some((text, rest)) = found else { return Err(format!("{what} in quotation marks is missing")) };
        if text.len() > 255 {
            return Err(format!("{what} has {} letters, and 255 are the most", text.len()));
        }
        if let Some(letter) = text.chars().find(|&letter| !(' '..='~').contains(&letter) || letter == '\\') {
            return Err(format!(
                "{what} has the letter {letter:?}, and not only those of ASCII but quotes and backslashes"
            ));
        }
        self.rest = match rest.strip_prefix(' ') {
            Some(rest) => rest,
            None if rest.is_empty() => rest,
            None => return Err(format!("after {what} there is no space")),
        };
        Ok(text)
    }
}

impl FromStr for Record {
    type Err = InvalidRecord;

    fn from_str(text: &str) -> Result<Self, InvalidRecord> {
        let parse = || {
            let mut fields = Fields { rest: text };
            let (name, ttl) = (fields.next("a domain name")?, fields.next("a time to live in seconds")?);
            match fields.word("the class IN")? {
                "IN" => {}
                class => return Err(format!("{class:?} is not the class IN")),
            }
            let data = RecordData::parse(fields.next("a type of the ten")?, &mut fields)?;
            match fields.rest {
                "" => Ok(Self { name, ttl, data }),
                rest => Err(format!("it ends with {rest:?}")),
            }
        };
        parse().map_err(|reason| InvalidRecord { text: text.to_owned(), reason })
    }
}

impl TryFrom<String> for Record {
    type Error = InvalidRecord;

    fn try_from(text: String) -> Result<Self, InvalidRecord> {
        text.parse()
    }
}

impl From<Record> for String {
    fn from(record: Record) -> Self {
        record.to_string()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} IN {} {}", self.name, self.ttl, self.record_type(), self.data)
    }
}

impl fmt::Display for RecordData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::A(address) => write!(formatter, "{address}"),
            Self::Ns(name) | Self::Cname(name) | Self::Ptr(name) => write!(formatter, "{name}"),
            Self::Soa(soa) => {
                let Soa { mname, rname, serial, refresh, retry, expire, minimum } = &**soa;
                write!(formatter, "{mname} {rname} {serial} {refresh} {retry} {expire} {minimum}")
            }
            Self::Hinfo(cpu, os) => write!(formatter, "\"{cpu}\" \"{os}\""),
            Self::Mx(preference, exchange) => write!(formatter, "{preference} {exchange}"),
            Self::Txt(texts) => {
                let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                formatter.write_str(&quoted.join(" "))
            }
            Self::Aaaa(address) => write!(formatter, "{address}"),
            Self::Srv(priority, weight, port, target) => write!(formatter, "{priority} {weight} {port} {target}"),
        }
    }
}

impl FromStr for RecordType {
    type Err = InvalidRecord;

    fn from_str(text: &str) -> Result<Self, InvalidRecord> {
        Self::ALL.into_iter().find(|record_type| record_type.as_str() == text).ok_or_else(|| InvalidRecord {
            text: text.to_owned(),
            reason: format!("it is none of the types {}", Self::ALL.map(Self::as_str).join(", ")),
        })
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for InvalidRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} is no resource record: {}", self.text, self.reason)
    }
}

impl std::error::Error for InvalidRecord {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of each type, with the bytes of its record.
    const LINES: [(&str, usize); 10] = [
        ("www.example. 300 IN A 198.18.0.7", 13 + 10 + 4),
        ("example. 300 IN NS ns1.example.", 9 + 10 + 13),
        ("www.example. 0 IN CNAME example.", 13 + 10 + 9),
        ("example. 60 IN SOA ns1.example. hostmaster.example. 1 3600 600 86400 5", 9 + 10 + 13 + 20 + 20),
        ("7.0.18.198.in-addr.arpa. 60 IN PTR www.example.", 25 + 10 + 13),
        ("www.example. 60 IN HINFO \"PDP-11\" \"a b\"", 13 + 10 + 7 + 4),
        ("example. 60 IN MX 10 www.example.", 9 + 10 + 2 + 13),
        ("example. 60 IN TXT \"\" \"v=1; 2\"", 9 + 10 + 1 + 7),
        ("www.example. 60 IN AAAA 2001:2::7", 13 + 10 + 16),
        ("_http._tcp.example. 60 IN SRV 1 2 80 www.example.", 20 + 10 + 6 + 13),
    ];

    #[test]
    fn a_record_is_a_line_of_a_zone_file_and_back() {
        for ((line, bytes), record_type) in LINES.into_iter().zip(RecordType::ALL) {
            let record: Record = line.parse().expect("it is one");
            assert_eq!(record.to_string(), line);
            assert_eq!(record.record_type(), record_type);
            assert_eq!(record.wire_bytes(), bytes, "{line}");
            let json = serde_json::to_string(&record).expect("it is a text");
            assert_eq!(serde_json::from_str::<Record>(&json).expect("it is one"), record);
            assert_eq!(serde_json::to_string(&record_type).expect("it is a text"), format!("\"{record_type}\""));
        }
    }

    #[test]
    fn what_is_no_record_is_refused_with_the_reason() {
        #[track_caller]
        fn check(line: &str, expect: &str) {
            assert_eq!(line.parse::<Record>().expect_err("it is none").reason, expect);
        }
        check("example 60 IN A 1.2.3.4", "\"example\" is not a domain name");
        check("example. -1 IN A 1.2.3.4", "\"-1\" is not a time to live in seconds");
        check("example. 60 CH A 1.2.3.4", "\"CH\" is not the class IN");
        check("example. 60 IN WKS 1.2.3.4", "\"WKS\" is not a type of the ten");
        check("example. 60 IN A 1.2.3.400", "\"1.2.3.400\" is not an address");
        check("example. 60 IN A", "an address is missing, or spaces are more than one");
        check("example. 60 IN  A 1.2.3.4", "a type of the ten is missing, or spaces are more than one");
        check("example. 60 IN A 1.2.3.4 5", "it ends with \"5\"");
        check("example. 60 IN TXT abc", "a text in quotation marks is missing");
        check("example. 60 IN TXT \"a\"\"b\"", "after a text there is no space");
        let long = format!("example. 60 IN TXT \"{}\"", "a".repeat(256));
        check(&long, "a text has 256 letters, and 255 are the most");
        let letter = "a text has the letter '\\\\', and not only those of ASCII but quotes and backslashes";
        check("example. 60 IN TXT \"a\\b\"", letter);
    }
}
