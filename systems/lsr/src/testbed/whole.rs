//! Test cases of link-state routing on one program that plays the whole network, as routers that others wrote need it:
//! they send through interfaces of the system, which no harness can put datagrams of its own between.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Lsr, Publication, TestCase};
use serde_json::Value;
use simutant_harness::{
    Conclusion, Environment, HarnessError, InvalidCase, Left, Placeholders, Process, Role, Setup, Testbed, read_case,
};
use simutant_system::System;

use super::judge_all;

const NETWORK: &str = "network";

const ROLES: [Role; 1] =
    [Role { name: NETWORK, placeholders: &["routers", "links", "messages", "output", "seed"], listens: false }];

/// Runs test cases of [`Lsr`] on programs that are told all of them.
#[derive(Debug)]
pub(super) struct LsrNetworkTestbed;

impl Testbed for LsrNetworkTestbed {
    fn system(&self) -> &str {
        Lsr::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, Lsr::validate).map(drop)
    }

    /// The test case leaves nothing open.
    fn redraws(&self) -> bool {
        false
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, Lsr::validate).expect("the case was checked");
        Ok(Box::new(Whole { case, folder: setup.folder.into() }))
    }
}

/// One test case, told to one program.
struct Whole {
    case: TestCase,
    folder: PathBuf,
}

impl Environment for Whole {
    fn processes(&self, role: &str) -> Vec<Process> {
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(",");
        let starts = self.case.router_starts();
        let mut routers = self.case.topology.routers().zip(starts).map(|(id, start)| {
            let micros = start.as_nanos() / 1_000;
            format!("{}@{}.{:03}", id.0, micros / 1_000, micros % 1_000)
        });
        let mut links =
            self.case.topology.links().iter().map(|(one, other, cost)| format!("{}-{}/{cost}", one.0, other.0));
        let mut messages = self.case.publications().map(|publication| {
            let Publication { number, source, destination, .. } = publication;
            format!("{number}:{}-{}", source.0, destination.0)
        });
        let placeholders = Placeholders::from([
            ("routers", list(&mut routers).into()),
            ("links", list(&mut links).into()),
            ("messages", list(&mut messages).into()),
            ("output", self.folder.clone().into()),
            ("seed", self.case.seed.to_string().into()),
        ]);
        vec![Process { name: role.into(), placeholders, port: None, start: Duration::ZERO }]
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        Ok(judge_all(&self.case, &self.folder)?.into())
    }
}

#[cfg(test)]
mod tests {
    use simutant_harness::InputContent;

    use super::*;

    #[test]
    fn the_program_is_told_the_test_case_and_judged_by_what_its_routers_wrote() {
        let case = serde_json::json!({
            "topology": "3-cycle", "messages": [{ "from": 1, "to": 3 }, { "from": 2, "to": 2 }], "seed": 5
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        LsrNetworkTestbed.check(&case).expect("a good case");
        let setup = Setup {
            name: "a",
            case: &case,
            seed: 0,
            folder: folder.path(),
            input: InputContent::Bytes,
            fixture: None,
            fixture_side: None,
            waived: &std::collections::BTreeMap::new(),
        };
        let environment = LsrNetworkTestbed.set_up(&setup).expect("nothing is needed");
        let [network] = &environment.processes(NETWORK)[..] else { panic!("one program plays all") };
        let value = |name: &str| network.placeholders[name].to_str().expect("plain text").to_owned();
        assert_eq!((value("links"), value("messages")), ("1-2/1,2-3/2,3-1/5".into(), "1:1-3,2:2-2".into()));
        let routers = value("routers");
        let starts: Vec<f64> = routers
            .split(',')
            .zip(["1@", "2@", "3@"])
            .map(|(router, number)| router.strip_prefix(number).and_then(|start| start.parse().ok()).expect(router))
            .collect();
        assert!(starts.len() == 3 && starts.iter().all(|start| (0.0..=20.0).contains(start)), "{routers}");
        assert_eq!(value("output"), folder.path().to_str().expect("plain text"));

        std::fs::write(folder.path().join("router-2"), "2 2 2 0\n").expect("room");
        std::fs::write(folder.path().join("router-3"), "1 1 3 5\n").expect("room");
        let judged = || {
            let judgement = environment.judge(&Left { processes: &[] }).expect("the files can be read");
            judgement.verdict.finding().map(|finding| finding.summary.clone())
        };
        let dearer = "router-3: message 1 came at a cost of 5, the shortest path costs 3";
        assert_eq!(judged().as_deref(), Some(dearer));
        std::fs::write(folder.path().join("router-3"), "1 1 3 3\n").expect("room");
        assert_eq!(judged(), None);
    }
}
