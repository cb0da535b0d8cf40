//! The picture of a history that was judged.

use simutant_oracle::{CheckReport, ReportedAnswer, ReportedCall, Time};
use simutant_traces::diagram::{Caption, Outcome};
use simutant_traces::history;

use super::{Judged, Judgement};
use crate::output;
use crate::trace_files::{DiagramFile, write_picture};

/// The history that `--picture` draws: of those that came so far, the first impossible one, or else the first.
#[derive(Debug, Default)]
pub(super) struct Drawn(Option<(String, CheckReport)>);

impl Drawn {
    /// Takes the calls off a judgement, and keeps them with it if it is the one to draw so far.
    pub(super) fn offer(&mut self, judged: &mut Judged) {
        let Judgement::Report(report) = &mut judged.judgement else { return };
        let mut history: Vec<ReportedCall> = std::mem::take(&mut report.history);
        // As in the text: times of the machine's clock are long numbers.
        let since =
            |time: &mut Time| *time = Time::from_nanos(time.as_nanos().saturating_sub(report.begun_ns.as_nanos()));
        for call in &mut history {
            since(&mut call.invoked_ns);
            call.ended_ns.iter_mut().for_each(since);
        }
        let is_better = match &self.0 {
            None => true,
            Some((_, known)) => !is_impossible(known) && is_impossible(report),
        };
        if is_better {
            self.0 = Some((judged.file.clone(), CheckReport { history, ..report.clone() }));
        }
    }

    /// Writes the picture, and says of which history it is if there are `others`.
    pub(super) fn write(&self, file: &DiagramFile, others: bool) -> anyhow::Result<()> {
        let Some((name, report)) = &self.0 else {
            output::tell("no history could be read, so there is no picture");
            return Ok(());
        };
        let (verdict, outcome) = match report.answer {
            ReportedAnswer::Possible { .. } => ("possible", Outcome::Passed),
            ReportedAnswer::Impossible(_) => ("impossible", Outcome::Failed),
            ReportedAnswer::Unobserved => ("inconclusive", Outcome::Unknown),
            ReportedAnswer::Undecided { .. } => ("undecided", Outcome::Unknown),
        };
        let caption = Caption { title: name.clone(), verdict: verdict.to_owned(), outcome };
        write_picture(file, &history::reported(report), &caption)?;
        if others {
            output::tell(&format!("the picture shows {name} ({verdict})"));
        }
        Ok(())
    }
}

const fn is_impossible(report: &CheckReport) -> bool {
    matches!(report.answer, ReportedAnswer::Impossible(_))
}
