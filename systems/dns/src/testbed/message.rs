//! Messages of the domain name system as they come over the network, in the words of the simulation.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Name, Question, Record, RecordData, RecordType, Soa};
use domain::base::iana::{Class, Rtype};
use domain::base::message::RecordSection;
use domain::base::name::ToName;
use domain::base::{Message, MessageBuilder, ParsedName, Ttl};
use domain::rdata::AllRecordData;

/// A query.
pub(super) type Query = Message<Vec<u8>>;

/// A response, as far as it is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Response {
    /// The number of the response code: 0 for no error, 2 for a failure of the server, 3 for a name error.
    pub(super) rcode: u8,
    pub(super) answer: Vec<Record>,
    pub(super) authority: Vec<Record>,
}

/// Why a message cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

/// Returns a query that asks for recursion.
pub(super) fn query(id: u16, question: &Question) -> Query {
    let mut builder = MessageBuilder::new_vec();
    builder.header_mut().set_id(id);
    builder.header_mut().set_rd(true);
    let mut builder = builder.question();
    let name = domain::base::Name::<Vec<u8>>::from_str(question.name.as_str()).expect("names are names there too");
    builder.push((name, number_of(question.record_type), Class::IN)).expect("a vector takes everything");
    builder.into_message()
}

fn number_of(record_type: RecordType) -> Rtype {
    match record_type {
        RecordType::A => Rtype::A,
        RecordType::Ns => Rtype::NS,
        RecordType::Cname => Rtype::CNAME,
        RecordType::Soa => Rtype::SOA,
        RecordType::Ptr => Rtype::PTR,
        RecordType::Hinfo => Rtype::HINFO,
        RecordType::Mx => Rtype::MX,
        RecordType::Txt => Rtype::TXT,
        RecordType::Aaaa => Rtype::AAAA,
        RecordType::Srv => Rtype::SRV,
    }
}

/// Returns the records of the sections that are judged.
///
/// # Errors
/// [`Unreadable`] if it is cut off or malformed, or has a record that no zone of a test case can have.
pub(super) fn read(message: &Message<[u8]>) -> Result<Response, Unreadable> {
    let malformed = |error: domain::base::wire::ParseError| Unreadable(format!("a malformed message ({error})"));
    let answer = records(message.answer().map_err(malformed)?)?;
    let authority = records(message.authority().map_err(malformed)?)?;
    Ok(Response { rcode: message.header().rcode().to_int(), answer, authority })
}

/// Returns the records of all sections, as far as they can be read and a zone of a test case can have them.
pub(super) fn all_records(message: &Message<[u8]>) -> Vec<Record> {
    let sections = [message.answer(), message.authority(), message.additional()].into_iter().flatten();
    let records = sections.flat_map(|section| section.limit_to::<AllRecordData<_, ParsedName<_>>>().flatten());
    let read = records.filter(|record| record.class() == Class::IN).filter_map(|record| {
        Some(Record { name: name(record.owner())?, ttl: record.ttl().as_secs(), data: data(record.data())? })
    });
    read.collect()
}

fn records(section: RecordSection<'_, [u8]>) -> Result<Vec<Record>, Unreadable> {
    let mut records = Vec::new();
    for record in section.limit_to::<AllRecordData<_, ParsedName<_>>>() {
        let record = record.map_err(|error| Unreadable(format!("a malformed record ({error})")))?;
        let record_type = record.rtype();
        let parts = || Some((name(record.owner())?, data(record.data())?));
        match parts() {
            Some((name, data)) if record.class() == Class::IN => {
                records.push(Record { name, ttl: record.ttl().as_secs(), data });
            }
            _ => {
                let (owner, class) = (record.owner().fmt_with_dot(), record.class());
                return Err(Unreadable(format!("a record of another kind, {owner} {class} {record_type}")));
            }
        }
    }
    Ok(records)
}

/// Returns a name in lower case, `None` if it is not one of the simulation.
fn name(name: &impl ToName) -> Option<Name> {
    name.fmt_with_dot().to_string().to_ascii_lowercase().parse().ok()
}

fn data<O, N>(data: &AllRecordData<O, N>) -> Option<RecordData>
where
    O: domain::dep::octseq::Octets,
    N: ToName,
{
    Some(match data {
        AllRecordData::A(address) => RecordData::A(address.addr()),
        AllRecordData::Aaaa(address) => RecordData::Aaaa(address.addr()),
        AllRecordData::Ns(host) => RecordData::Ns(name(host.nsdname())?),
        AllRecordData::Cname(canonical) => RecordData::Cname(name(canonical.cname())?),
        AllRecordData::Ptr(pointer) => RecordData::Ptr(name(pointer.ptrdname())?),
        AllRecordData::Mx(mx) => RecordData::Mx(mx.preference(), name(mx.exchange())?),
        AllRecordData::Srv(srv) => RecordData::Srv(srv.priority(), srv.weight(), srv.port(), name(srv.target())?),
        AllRecordData::Hinfo(host) => {
            RecordData::Hinfo(text(host.cpu().as_slice()).into(), text(host.os().as_slice()).into())
        }
        AllRecordData::Txt(texts) => RecordData::Txt(texts.iter().map(text).collect::<Vec<_>>().into()),
        AllRecordData::Soa(soa) => RecordData::Soa(Arc::new(Soa {
            mname: name(soa.mname())?,
            rname: name(soa.rname())?,
            serial: soa.serial().into_int(),
            refresh: Ttl::as_secs(&soa.refresh()),
            retry: Ttl::as_secs(&soa.retry()),
            expire: Ttl::as_secs(&soa.expire()),
            minimum: Ttl::as_secs(&soa.minimum()),
        })),
        _ => return None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the usual name of a response code.
pub(super) fn rcode_name(rcode: u8) -> String {
    match rcode {
        0 => "NOERROR".into(),
        1 => "FORMERR".into(),
        2 => "SERVFAIL".into(),
        3 => "NXDOMAIN".into(),
        4 => "NOTIMP".into(),
        5 => "REFUSED".into(),
        other => format!("rcode {other}"),
    }
}

impl fmt::Display for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", rcode_name(self.rcode), list(&self.answer))?;
        if !self.authority.is_empty() {
            write!(formatter, " with authority {}", list(&self.authority))?;
        }
        Ok(())
    }
}

/// Returns records between brackets.
pub(super) fn list<'a>(records: impl IntoIterator<Item = &'a Record>) -> String {
    let records: Vec<String> = records.into_iter().map(Record::to_string).collect();
    format!("[{}]", records.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_it_was_written() {
        let texts = [
            "www.example. 5 IN A 198.18.0.1",
            ". 5 IN NS ns1.",
            "a.example. 5 IN CNAME www.example.",
            "example. 5 IN SOA ns1. hostmaster.example. 1 3600 600 86400 5",
            "1.0.18.198.in-addr.arpa. 5 IN PTR www.example.",
            "www.example. 5 IN HINFO \"VAX 780\" \"UNIX\"",
            "example. 5 IN MX 10 www.example.",
            "www.example. 5 IN TXT \"one\" \"and another\"",
            "www.example. 0 IN AAAA 2001:2::1",
            "_http._tcp.example. 5 IN SRV 1 2 80 www.example.",
        ];
        let records: Vec<Record> = texts.map(|text| text.parse().expect("it is a record")).to_vec();
        let mut builder = MessageBuilder::new_vec().answer();
        for text in texts {
            let mut zone = domain_record(text);
            zone.0.make_ascii_uppercase();
            let (name, ttl, rtype, data) = zone;
            let owner = domain::base::Name::<Vec<u8>>::from_str(&name).expect("it is a name");
            let unknown = domain::base::rdata::UnknownRecordData::from_octets(rtype, data).expect("it is short");
            builder.push((owner, Class::IN, Ttl::from_secs(ttl), unknown)).expect("a vector takes everything");
        }
        let message = builder.into_message();
        let response = read(message.for_slice()).expect("it can be read");
        assert_eq!(response, Response { rcode: 0, answer: records, authority: Vec::new() });
    }

    /// Returns name, time to live, type and data (RFC 1035, section 3.3) of a record, by hand.
    fn domain_record(text: &str) -> (String, u32, Rtype, Vec<u8>) {
        let record: Record = text.parse().expect("it is a record");
        let name = |name: &Name| {
            let labels = name.labels().flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat());
            labels.chain([0]).collect::<Vec<u8>>()
        };
        let texts = |texts: &[&str]| -> Vec<u8> {
            texts.iter().flat_map(|text| [&[text.len() as u8], text.as_bytes()].concat()).collect()
        };
        let data = match &record.data {
            RecordData::A(address) => address.octets().to_vec(),
            RecordData::Aaaa(address) => address.octets().to_vec(),
            RecordData::Ns(host) | RecordData::Cname(host) | RecordData::Ptr(host) => name(host),
            RecordData::Hinfo(cpu, os) => texts(&[cpu, os]),
            RecordData::Txt(list) => texts(&list.iter().map(String::as_str).collect::<Vec<_>>()),
            RecordData::Mx(preference, host) => [&preference.to_be_bytes()[..], &name(host)].concat(),
            RecordData::Srv(priority, weight, port, host) => {
                let numbers = [priority, weight, port].map(|number| number.to_be_bytes()).concat();
                [numbers, name(host)].concat()
            }
            RecordData::Soa(soa) => {
                let numbers = [soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum];
                let numbers = numbers.map(u32::to_be_bytes).concat();
                [name(&soa.mname), name(&soa.rname), numbers].concat()
            }
        };
        (record.name.to_string(), record.ttl, number_of(record.record_type()), data)
    }

    #[test]
    fn a_query_asks_for_recursion_and_what_is_not_its_response_is_told_apart() {
        let question = |name: &str| Question { name: name.parse().expect("a name"), record_type: RecordType::Mx };
        let asked = query(7, &question("www.example."));
        assert!(asked.header().rd() && !asked.header().qr());
        let mut response = query(7, &question("www.example."));
        assert!(!response.is_answer(&asked), "it is a query");
        response.header_mut().set_qr(true);
        assert!(response.is_answer(&asked));
        assert_eq!(read(response.for_slice()), Ok(Response { rcode: 0, answer: Vec::new(), authority: Vec::new() }));
        let mut other = query(7, &question("other.example."));
        other.header_mut().set_qr(true);
        assert!(!other.is_answer(&asked));
    }
}
