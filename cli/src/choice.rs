//! How a suite is chosen, as the options say.

use simutant_analysis::{Builder, ExpectedBuilder};
use simutant_study::{StudyPlan, SuiteChoice};

use crate::arguments::{BuilderArgument, ChoiceArguments};
use crate::exit::BadInput;

/// Returns how a suite is chosen, of a criterion if one was named; options that do not go together are refused.
/// `is_reseeded`: whether the study runs test cases several times.
pub(crate) fn choice(
    arguments: &ChoiceArguments,
    criterion: Option<&str>,
    is_reseeded: bool,
) -> Result<SuiteChoice, BadInput> {
    let (budget, criterion) = (arguments.budget, criterion.map(str::to_owned));
    let builder = arguments.builder.unwrap_or(match budget {
        _ if is_reseeded && criterion.is_none() => BuilderArgument::Expected,
        Some(_) => BuilderArgument::Greedy,
        None => BuilderArgument::Random,
    });
    let is_expected = builder == BuilderArgument::Expected;
    let message = match builder {
        BuilderArgument::Random | BuilderArgument::Minimum if budget.is_some() => {
            "--budget goes with --builder greedy or prioritised: a suite that is drawn, or as small as can be, keeps no budget"
        }
        BuilderArgument::Expected if criterion.is_some() => {
            "--builder expected builds for mutants: it takes no --criterion"
        }
        BuilderArgument::Expected if !is_reseeded => {
            "--builder expected needs --reseed 2 or more: one run tells no probability"
        }
        _ if !is_expected && (arguments.inputs.is_some() || arguments.target.is_some() || arguments.time.is_some()) => {
            "--time, --inputs and --target go with --builder expected, which needs --reseed 2 or more"
        }
        BuilderArgument::Random => return Ok(SuiteChoice::Drawn { criterion }),
        BuilderArgument::Greedy => return Ok(SuiteChoice::Built { builder: Builder::Greedy { budget }, criterion }),
        BuilderArgument::Minimum => return Ok(SuiteChoice::Built { builder: Builder::Minimum, criterion }),
        BuilderArgument::Prioritised => {
            return Ok(SuiteChoice::Built { builder: Builder::Prioritised { budget }, criterion });
        }
        BuilderArgument::Expected => return Ok(SuiteChoice::Expected(expected_builder(arguments))),
    };
    Err(BadInput(message.to_owned()))
}

/// Returns what decides the suite that is expected to find most.
fn expected_builder(arguments: &ChoiceArguments) -> ExpectedBuilder {
    let ChoiceArguments { time, budget, target, inputs, .. } = arguments;
    match (time, budget, target, inputs) {
        (Some(time), ..) => ExpectedBuilder::Time(time.as_secs_f64()),
        (_, Some(budget), ..) => ExpectedBuilder::Budget(*budget),
        (_, _, Some(percent), _) => ExpectedBuilder::Target(percent / 100.0),
        (.., Some(inputs)) => ExpectedBuilder::Inputs(inputs.get()),
        _ => ExpectedBuilder::Target(StudyPlan::TARGET),
    }
}
