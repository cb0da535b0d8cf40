//! What an analysis found, in words: sentences, tables for a terminal, and pages of HTML.
//!
//! Everything here is a pure function of an [`Analysis`](simutant_analysis::Analysis) and the
//! [`Outcomes`](simutant_outcomes::Outcomes) that it is of: it computes no statistic, and gives the same bytes for the
//! same input. [`summary`] is what a study prints, [`tables`] all that it found, [`report`] its page, [`MutantPage`] and [`CasePage`] are what the
//! page links. [`experiment_summary`], [`experiment_tables`] and [`experiment_report`] show experiments, [`difference_tables`] what changed
//! between two studies, [`sources_tables`] sources of test cases side by side, [`assessment_text`] what a suite of one's own is worth, [`scenario_text`] a suite at the cost of
//! its choice, [`choice_text`] another suite of a study.
//!
//! Where an earlier experiment reports figures for the system ([`Reference`](simutant_analysis::Reference)), they stand
//! beside ours. No system is known here by name.

mod absent;
mod assessment;
mod boosting;
mod built;
mod change;
mod contradiction;
mod cost;
mod difference;
mod expected;
mod experiment;
mod html;
mod inconclusive;
mod late_faults;
mod reference;
mod scenario;
mod sensitivity;
mod sources;
mod summary;
mod survivors;
mod tables;
mod terminal;
mod text;
mod words;

pub use assessment::{assessment_summary, assessment_text};
pub use built::choice_text;
pub use contradiction::contradiction_sentence;
pub use difference::difference_tables;
pub use experiment::{experiment_summary, experiment_tables, experiment_text};
pub use html::{
    CasePage, CasePages, Explanation, MutantPage, Operators, Pages, Parting, Plot, example_case, experiment_report,
    plots, report, report_with_pages,
};
pub use scenario::scenario_text;
pub use sources::{sources_summary, sources_tables};
pub use summary::{study_text, summary};
pub use tables::tables;
pub use terminal::{Section, sections, wrapped};
