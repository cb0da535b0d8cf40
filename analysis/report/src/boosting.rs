//! What to keep in mind when reading what boosting brings.

use simutant_analysis::Analysis;

use crate::text::p_value;

/// With fewer judging mutants than this, one of them moves a score by a quarter or more.
const JUDGES_MIN: usize = 5;

/// Returns what to keep in mind when reading the boosting of an analysis, in sentences; none without boosting.
pub(crate) fn caveats(analysis: &Analysis) -> Vec<String> {
    let Some(held_out) = &analysis.held_out else { return Vec::new() };
    let mut sentences = Vec::new();
    match held_out.judging.len() {
        1 => sentences.push("One judging mutant is too few to rely on.".into()),
        judges if judges < JUDGES_MIN => sentences.push(format!("{judges} judging mutants are too few to rely on.")),
        _ => {}
    }
    sentences.push(
        "Tau: how far the scores that choose and those that judge put suites of one size in the same order; top beats random: how often the \
         tenth of the suites with the best choosing scores has a higher judging score than a random suite of its size, with the p-value \
         of the exact binomial test, and, in brackets, how often all suites have."
            .into(),
    );
    let alpha = analysis.options.alpha;
    let worse: Vec<String> = analysis
        .criteria
        .iter()
        .flat_map(|criterion| {
            let steps = criterion.boosting.iter().flat_map(|boosting| &boosting.steps);
            let worse = steps.filter_map(|step| Some((step.suites, step.worse_p.filter(|p| *p < alpha)?)));
            worse.map(|(suites, p)| format!("{} at M = {suites} (p {})", criterion.name, p_value(p)))
        })
        .collect();
    sentences.push(format!(
        "Several M are tried at the same alpha of {alpha}, without a correction, as in the thesis; the opposite, that the \
         best of M scores below a suite taken at random, was {}.",
        if worse.is_empty() { "never significant".into() } else { format!("significant for {}", worse.join(", ")) }
    ));
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, Boosting, BoostingStep, Foresight, HeldOut, Summary, analyse};
    use simutant_synthetic::from_kills;

    #[test]
    fn caveats_tell_of_few_judges_and_of_the_opposite() {
        let mut analysis = analyse(&from_kills(&["k...", ".k..", "..k.", "...k"]), &AnalysisOptions::default())
            .expect("sound outcomes");
        let found = caveats(&analysis);
        assert_eq!(found[0], "2 judging mutants are too few to rely on.");
        assert!(found[2].ends_with("below a suite taken at random, was never significant."), "{}", found[2]);

        let score = Summary::of(&[0.1, 0.2]).expect("there are scores");
        let step = BoostingStep { suites: 3, score, better: None, worse_p: Some(0.01) };
        analysis.criteria[0].boosting = Some(Boosting {
            baseline: 0.5,
            steps: vec![step],
            suites_min: None,
            foresight: Foresight { correlation: None, correlation_at_size: None, top: None },
        });
        analysis.held_out = Some(HeldOut { choosing: (0..5).collect(), judging: (5..10).collect() });
        let found = caveats(&analysis);
        assert_eq!(found.len(), 2, "five judges are enough");
        assert!(found[1].ends_with("was significant for every-case at M = 3 (p 0.010)."), "{}", found[1]);

        analysis.held_out = None;
        assert_eq!(caveats(&analysis), Vec::<String>::new());
    }
}
