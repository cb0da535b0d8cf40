//! A whole campaign on the hand-written worker: `counter_campaign FOLDER SEED CASES JOBS`.
//!
//! Writes the outcomes to standard output. It goes on where an earlier run in the same folder was stopped.

mod counter;

use std::error::Error;
use std::io::Write;
use std::num::NonZeroU8;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use simutant_campaign::{Bounds, Campaign, CampaignPlan, Existing, Pruning};
use simutant_outcomes::InputSource;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [program, folder, seed, cases, jobs] = &arguments[..] else {
        return Err("usage: counter_campaign FOLDER SEED CASES JOBS".into());
    };
    let build = counter::build(program.as_ref());
    let bounds = Bounds { hang: Duration::from_secs(2), ..Bounds::default() };
    let plain = build.worker.clone();
    let (seed, cases) = (seed.parse()?, cases.parse()?);
    let (input_source, pruning) = (InputSource::Uniform, Pruning::Infected);
    let plan = CampaignPlan {
        build,
        seed,
        input_source,
        cases,
        given: Vec::new(),
        reseedings: NonZeroU8::MIN,
        pruning,
        bounds,
    };
    let mut campaign = Campaign::open(folder.as_ref(), plan, Existing::Continue)?;
    campaign.run(&plain, jobs.parse()?, &mut |_progress| {}, &AtomicBool::new(false))?;
    std::io::stdout().write_all(&serde_json::to_vec(&campaign.outcomes()?)?)?;
    Ok(())
}
