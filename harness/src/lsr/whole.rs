//! Test cases of link-state routing on one program that plays the whole network, as routers that others wrote need it:
//! they send through interfaces of the system, which no harness can put datagrams of its own between.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use simutant_sim_core::System;
use simutant_systems::lsr::{Lsr, Publication, TestCase};

use super::{check, judge_all};
use crate::error::HarnessError;
use crate::implementation::Values;
use crate::proxy::ProxyCounts;
use crate::report::FailureReason;
use crate::system::{InvalidCase, Player, Role, Scene, SystemHarness};

const NETWORK: &str = "network";

const ROLES: [Role; 1] =
    [Role { side: NETWORK, placeholders: &["routers", "links", "messages", "output", "seed"], listens: false }];

/// Runs test cases of [`Lsr`] on programs that are told all of them.
#[derive(Debug)]
pub(crate) struct LsrNetworkHarness;

impl SystemHarness for LsrNetworkHarness {
    fn system(&self) -> &'static str {
        Lsr::NAME
    }

    fn roles(&self) -> &'static [Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        check(case)
    }

    /// The test case leaves nothing open, so the seed of the run changes nothing.
    fn set_up(&self, case: &Value, _seed: u64, folder: &Path) -> Result<Box<dyn Scene>, HarnessError> {
        let case = serde_json::from_value(case.clone()).expect("the case was checked");
        Ok(Box::new(Whole { case, folder: folder.into() }))
    }
}

/// One test case, told to one program.
struct Whole {
    case: TestCase,
    folder: PathBuf,
}

impl Scene for Whole {
    fn players(&self, side: &str) -> Vec<Player> {
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
        let values = Values::from([
            ("routers", list(&mut routers).into()),
            ("links", list(&mut links).into()),
            ("messages", list(&mut messages).into()),
            ("output", self.folder.clone().into()),
            ("seed", self.case.seed.to_string().into()),
        ]);
        vec![Player { name: side.into(), values, port: None, start: Duration::ZERO }]
    }

    /// The network is the program's.
    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        Ok(ProxyCounts::default())
    }

    fn judge(&self) -> Result<Option<FailureReason>, HarnessError> {
        judge_all(&self.case, &self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_told_the_test_case_and_judged_by_what_its_routers_wrote() {
        let case = serde_json::json!({
            "topology": "3-cycle", "messages": [{ "from": 1, "to": 3 }, { "from": 2, "to": 2 }], "seed": 5
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        LsrNetworkHarness.check(&case).expect("a good case");
        let scene = LsrNetworkHarness.set_up(&case, 0, folder.path()).expect("nothing is needed");
        let [network] = &scene.players(NETWORK)[..] else { panic!("one program plays all") };
        let value = |name: &str| network.values[name].to_str().expect("plain text").to_owned();
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
        let judged = || scene.judge().expect("the files can be read").map(|reason| reason.to_string());
        let dearer = "router-3: message 1 came at a cost of 5, the shortest path costs 3";
        assert_eq!(judged().as_deref(), Some(dearer));
        std::fs::write(folder.path().join("router-3"), "1 1 3 3\n").expect("room");
        assert_eq!(judged(), None);
    }
}
