//! What traces say beside the run itself: requirements, as numbers, and places in the source, as those of the original.

use std::borrow::Cow;
use std::collections::BTreeMap;

use simutant_protocol::TraceCoverage;
use simutant_sim_core::trace::{Site, Trace, TraceEvent};
use simutant_system::{Requirements, TraceCriterion};

use crate::{LineTable, panics};

/// What a worker keeps from trace to trace.
#[derive(Debug)]
pub(crate) struct Traced {
    lines: &'static LineTable,
    /// The places that were met, and what they are in the original.
    originals: BTreeMap<Site, Site>,
    /// By criterion, the numbers of the labels that were said.
    labels: Vec<BTreeMap<String, u32>>,
}

impl Traced {
    pub(crate) fn new(lines: &'static LineTable) -> Self {
        Self { lines, originals: BTreeMap::new(), labels: Vec::new() }
    }

    /// Lets a trace name places of the original, whatever the instrumentation made of it: the same places from one body
    /// of a function to the other.
    pub(crate) fn name_originals(&mut self, trace: &mut Trace) {
        for TraceEvent { action, .. } in trace {
            for site in action.sites_mut() {
                if let Some(original) = self.originals.get(site) {
                    site.clone_from(original);
                    continue;
                }
                let (file, line) = panics::original(&site.file, site.line, self.lines);
                let original = Site { file: Cow::Owned(file.to_owned()), line };
                let met = std::mem::replace(site, original.clone());
                self.originals.insert(met, original);
            }
        }
    }

    /// Returns what a run covers of each criterion.
    pub(crate) fn coverage(&mut self, criteria: &[TraceCriterion], trace: &[TraceEvent]) -> Vec<TraceCoverage> {
        // A criterion is code of the system, and may panic: no label is taken for said before all are done.
        let covered: Vec<Requirements> = criteria.iter().map(|criterion| criterion.covered(trace)).collect();
        self.labels.resize_with(criteria.len(), BTreeMap::new);
        self.labels.iter_mut().zip(covered).map(|(labels, covered)| number(labels, &covered)).collect()
    }
}

fn number(labels: &mut BTreeMap<String, u32>, covered: &Requirements) -> TraceCoverage {
    let mut coverage = TraceCoverage::default();
    for label in covered.labels() {
        let number = labels.get(label).copied().unwrap_or_else(|| {
            let number = labels.len() as u32;
            labels.insert(label.to_owned(), number);
            coverage.new_labels.push(label.to_owned());
            number
        });
        coverage.covered.push(number);
    }
    coverage
}

#[cfg(test)]
mod tests {
    use simutant_sim_core::VirtualTime;
    use simutant_sim_core::trace::{Action, Endpoint};

    use super::*;

    fn timed_out(file: &'static str, line: u32) -> TraceEvent {
        let channel = Endpoint { component: "client".to_owned(), port: 1 };
        let action = Action::TimedOut { channel, site: Some(Site { file: file.into(), line }) };
        TraceEvent { at: VirtualTime::ZERO, action }
    }

    fn criteria() -> Vec<TraceCriterion> {
        vec![
            TraceCriterion { name: "nothing", requirements: |_, _| {} },
            TraceCriterion { name: "timeouts", requirements: simutant_system::criteria::timeouts },
        ]
    }

    #[test]
    fn a_label_is_said_once_and_keeps_its_number() {
        let mut traced = Traced::new(&[]);
        let mut check = |trace: &[TraceEvent], new_labels: &[String], covered: &[u32]| {
            let [nothing, coverage] = &traced.coverage(&criteria(), trace)[..] else {
                panic!("there are two criteria")
            };
            assert_eq!(*nothing, TraceCoverage::default());
            assert_eq!((&coverage.new_labels[..], &coverage.covered[..]), (new_labels, covered));
        };
        check(&[timed_out("b.rs", 2)], &["client: b.rs:2".to_owned()], &[0]);
        check(&[timed_out("a.rs", 1), timed_out("b.rs", 2)], &["client: a.rs:1".to_owned()], &[1, 0]);
        check(&[timed_out("a.rs", 1)], &[], &[1]);
    }

    #[test]
    fn places_are_those_of_the_original() {
        let mut traced = Traced::new(&[("src/client.rs", "src/client.rs", &[1, 7, 7, 9])]);
        let mut trace = vec![
            timed_out("/copy/src/client.rs", 2),
            timed_out("/copy/src/client.rs", 3),
            timed_out("/copy/src/other.rs", 3),
        ];
        traced.name_originals(&mut trace);
        let expect = [timed_out("src/client.rs", 7), timed_out("src/client.rs", 7), timed_out("src/other.rs", 3)];
        assert_eq!(trace, expect);
    }
}
