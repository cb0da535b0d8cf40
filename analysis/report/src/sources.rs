//! Sources of test cases side by side, as a table and sentences.

use simutant_analysis::{BySource, Moments, Score, SourceComparison, count, duration, percent, plural};
use simutant_outcomes::InputSource;

use crate::terminal::{cells, fitting, heading, table, wrapped, wrapped_lines};
use crate::text::or_none;

/// Returns which source is best: sentences for a terminal, ending in a line break.
pub fn sources_summary(comparison: &SourceComparison) -> String {
    let sentences = sentences(comparison).into_iter().map(|sentence| format!("{sentence}\n"));
    wrapped_lines(&format!("{}\n\n{}", overview(comparison), sentences.collect::<String>()))
}

fn overview(comparison: &SourceComparison) -> String {
    let SourceComparison { system, seed, cases, killed_by_any, .. } = comparison;
    format!(
        "System {system}, {cases} test cases of seed {seed} from each source, {killed_by_any} mutants that at least one of these universes \
         kills"
    )
}

/// Returns the comparison as tables for a terminal, in [sections](crate::sections), ending in a line break.
pub fn sources_tables(comparison: &SourceComparison) -> String {
    let SourceComparison { killed_by_any, dominators, sources, .. } = comparison;
    let head = ["source", "a test case takes", "killed", "by no other", "events"].map(str::to_owned);
    let mut kills = table(head);
    for source in sources {
        let killed = Score { killed: source.killed, of: *killed_by_any }.to_string();
        kills.add_row(cells([
            source.source.to_string(),
            duration(source.seconds),
            killed,
            source.killed_alone.to_string(),
            count(source.events),
        ]));
    }
    let mut head = vec!["covered".to_owned()];
    head.extend(sources.iter().map(|source| source.source.to_string()));
    head.push("of".into());
    let mut coverage = table(head);
    for (index, name) in comparison.criteria.iter().enumerate() {
        let mut row = vec![name.clone()];
        row.extend(sources.iter().map(|source| source.covered[index].to_string()));
        row.push(or_none(comparison.requirements[index], |requirements| requirements.to_string()));
        coverage.add_row(cells(row));
    }
    let mut text = heading("summary") + &sources_summary(comparison);
    let mut section = |name: &str, title: &str, tables: String| {
        text.push_str(&format!("\n{}{}\n{tables}\n", heading(name), wrapped(title)));
    };
    if let Some(of) = comparison.expected {
        let title = format!(
            "Expected score of random suites of a source, on the {} mutants that some of {} re-seedings kills, each counted by its \
             difficulty",
            of.mutants, of.reseedings,
        );
        let in_time = |source: &BySource| source.random_expected_in_time.clone().unwrap_or_default();
        let by_size = |source: &BySource| source.random_expected.clone().unwrap_or_default();
        section("expected", &title, by_unit(comparison, in_time, by_size));
    }
    section("universe", "Mutants that the universe kills", fitting(&kills));
    let random = by_unit(comparison, |source| source.random_in_time.clone(), |source| means(&source.random));
    section("suites", "Mutants that random suites of a source kill", random);
    let random = by_unit(
        comparison,
        |source| source.random_dominators_in_time.clone(),
        |source| means(&source.random_dominators),
    );
    section(
        "dominators",
        &format!("Of the {dominators} dominators, those that random suites of a source kill"),
        random,
    );
    section("coverage", "Requirements that the universe covers", fitting(&coverage));
    text
}

/// Returns a table of the sources by the time that suites take on average, and one by how many inputs they have.
fn by_unit(
    comparison: &SourceComparison,
    in_time: impl Fn(&BySource) -> Vec<Option<f64>>,
    by_size: impl Fn(&BySource) -> Vec<Option<f64>>,
) -> String {
    let times: Vec<String> = comparison.times.iter().map(|&time| duration(time)).collect();
    let sizes: Vec<String> = comparison.sizes.iter().map(|&size| plural(size, "input")).collect();
    let shown = |head: Vec<String>, shares: &dyn Fn(&BySource) -> Vec<Option<f64>>| {
        let mut rows = table(["source".to_owned()].into_iter().chain(head));
        for source in &comparison.sources {
            let shares = shares(source).into_iter().map(|share| or_none(share, percent));
            rows.add_row(cells([source.source.to_string()].into_iter().chain(shares)));
        }
        fitting(&rows)
    };
    format!("{}\n{}", shown(times, &in_time), shown(sizes, &by_size))
}

fn means(random: &[Option<Moments>]) -> Vec<Option<f64>> {
    random.iter().map(|random| random.map(|moments| moments.mean)).collect()
}

/// Returns which source is best in each time, and at each size, by expected score where there is one and else on the
/// dominators, and what that does not tell.
fn sentences(comparison: &SourceComparison) -> Vec<String> {
    let in_time = |source: &BySource, index: usize| match &source.random_expected_in_time {
        Some(scores) => scores[index],
        None => source.random_dominators_in_time[index],
    };
    let by_size = |source: &BySource, index: usize| match &source.random_expected {
        Some(scores) => scores[index],
        None => source.random_dominators[index].map(|moments| moments.mean),
    };
    let sentence = |unit: String, mean: &dyn Fn(&BySource) -> Option<f64>| {
        let known = comparison.sources.iter().filter_map(|source| Some((source, mean(source)?)));
        // The first of equal ones.
        let (source, share) = known.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let uniform = comparison.sources.iter().find(|other| other.source == InputSource::Uniform);
        let uniform = uniform.filter(|_| source.source != InputSource::Uniform).and_then(mean);
        let [of_what, have] = match comparison.expected {
            Some(_) => ["have the highest expected score", "have"],
            None => ["kill most dominators", "kill"],
        };
        Some(format!(
            "{unit} random suites {of_what} if they come from {}: {}{}.",
            source.source,
            percent(share),
            uniform.map_or_else(String::new, |uniform| format!(", where uniform ones {have} {}", percent(uniform))),
        ))
    };
    let of_times = (0..comparison.times.len()).filter_map(|index| {
        let unit = format!("In {}", duration(comparison.times[index]));
        sentence(unit, &|source| in_time(source, index))
    });
    let of_sizes = (0..comparison.sizes.len()).filter_map(|index| {
        let unit = format!("With {}", plural(comparison.sizes[index], "input"));
        sentence(unit, &|source| by_size(source, index))
    });
    let mut sentences: Vec<String> = of_times.chain(of_sizes).collect();
    if sentences.is_empty() {
        return vec!["No universe kills a mutant, so the sources cannot be compared.".into()];
    }
    sentences.push(
        "Limits: there is one universe of each source, and that of another seed finds something else; small differences \
         can be chance."
            .into(),
    );
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::flat;
    use simutant_analysis::{AnalysisOptions, compare_sources};
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::{from_kills, reseeded};

    fn of(source: InputSource, kills: &[&str]) -> Outcomes {
        Outcomes { input_source: source, ..from_kills(kills) }
    }

    #[test]
    fn the_source_that_finds_most_is_told_at_each_size() {
        let all =
            [of(InputSource::Uniform, &["kk..", "....", "...."]), of(InputSource::Sobol, &["k...", "kkkk", "...."])];
        let text = flat(&sources_tables(&compare_sources(&all, &AnalysisOptions::default())));
        let expect = "With 1 input random suites kill most dominators if they come from sobol: 62.5 %, where uniform ones kill 25.0 %.";
        assert!(text.contains(expect), "{text}");
        // All test cases take 0.3 s.
        assert!(text.contains(&expect.replace("With 1 input", "In 0.30 s")), "{text}");
        assert!(
            text.find("In 0.60 s random") < text.find("With 1 input random"),
            "what takes as long comes first: {text}"
        );
        assert!(text.contains("50.0 % (1 of 2)"), "{text}");
    }

    #[test]
    fn expected_scores_stand_before_dominators() {
        let uniform = reseeded(&[&[8, 0, 0, 0], &[0, 4, 0, 0], &[0, 0, 0, 0]]);
        let sobol =
            Outcomes { input_source: InputSource::Sobol, ..reseeded(&[&[0, 0, 0, 0], &[8, 8, 8, 8], &[0, 0, 0, 0]]) };
        let text = flat(&sources_tables(&compare_sources(&[uniform, sobol], &AnalysisOptions::default())));
        assert!(
            text.contains(
                "With 2 inputs random suites have the highest expected score if they come from uniform: 41.7 %."
            ),
            "{text}"
        );
    }

    #[test]
    fn without_kills_nothing_is_told_apart() {
        let all = [of(InputSource::Uniform, &["...."]), of(InputSource::Boundary, &["...."])];
        let text = flat(&sources_tables(&compare_sources(&all, &AnalysisOptions::default())));
        assert!(text.contains("cannot be compared") && text.contains("none (0 of 0)"), "{text}");
    }
}
