//! `simutant score`: what a suite of one's own takes and is worth, beside suites of a study that take as long.

use simutant_report::{assessment_summary, assessment_text};
use simutant_study::{ScorePlan, ScoredSuite};

use crate::arguments::{Common, ScoreArguments};
use crate::exit::Exit;
use crate::interrupt::{self, Interrupts};
use crate::stages::Stages;
use crate::study::stopped;
use crate::{given, output};

pub(crate) fn run(arguments: &ScoreArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let plan = ScorePlan {
        system: arguments.system.request(),
        campaign: common.campaign(system),
        suite: given::read(&arguments.suite, system)?,
    };
    let interrupts = Interrupts::listen()?;
    let stages = Stages::new(system);
    let scored = interrupt::unless(plan.run(&|event| stages.show(event), interrupts.flag()))?;
    let Some(ScoredSuite { outcomes, assessment }) = scored else { return Ok(stopped(&plan.campaign.out)) };
    output::print(&if common.json {
        output::json(&output::Versioned::new(&assessment))?
    } else {
        let text = if common.verbose { assessment_text } else { assessment_summary };
        text(&outcomes, &assessment)
    })?;
    Ok(Exit::Success)
}
