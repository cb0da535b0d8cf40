//! Sources of test cases side by side, as a table and sentences.

use simutant_analysis::{BySource, Moments, Score, SourceComparison, count, percent};
use simutant_outcomes::InputSource;

use crate::terminal::{cells, fitting, table, wrapped_lines};
use crate::text::or_none;

/// Returns the comparison as text for a terminal, ending in a line break.
pub fn sources_table(comparison: &SourceComparison) -> String {
    let SourceComparison { system, seed, cases, killed_by_any, dominators, sizes, sources, .. } = comparison;
    let sizes = || sizes.iter().map(|size| if *size == 1 { "1 input".into() } else { format!("{size} inputs") });
    let shares = |random: &[Option<Moments>]| -> Vec<String> {
        random.iter().map(|random| or_none(*random, |moments| percent(moments.mean))).collect()
    };
    let head = ["source", "killed", "by no other", "events"].map(str::to_owned);
    let mut kills = table(head);
    let mut by_random = table(["source".to_owned()].into_iter().chain(sizes()));
    let mut on_dominators = table(["source".to_owned()].into_iter().chain(sizes()));
    for source in sources {
        let killed = Score { killed: source.killed, of: *killed_by_any }.to_string();
        let row = [source.source.to_string(), killed, source.killed_alone.to_string(), count(source.events)];
        kills.add_row(cells(row));
        by_random.add_row(cells([source.source.to_string()].into_iter().chain(shares(&source.random))));
        on_dominators.add_row(cells([source.source.to_string()].into_iter().chain(shares(&source.random_dominators))));
    }
    let expected = comparison.expected.map_or_else(String::new, |of| {
        let mut scores = table(["source".to_owned()].into_iter().chain(sizes()));
        for source in sources {
            let shares = source.random_expected.iter().flatten().map(|score| or_none(*score, percent));
            scores.add_row(cells([source.source.to_string()].into_iter().chain(shares)));
        }
        format!(
            "Expected score of a random suite of so many of its inputs, on the {} mutants that some of {} re-seedings kills, each counted by its \
             difficulty\n{}\n\n",
            of.mutants,
            of.reseedings,
            fitting(&scores)
        )
    });
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
    let mut text = format!(
        "System {system}, {cases} test cases of seed {seed} from each source, {killed_by_any} mutants that at least one of these universes \
         kills\n\n{expected}Mutants that the universe kills\n{}\n\n\
         Mutants that a random suite of so many of its inputs kills\n{}\n\n\
         The same for the {dominators} dominators among them\n{}\n\nRequirements that the universe covers\n{}\n\n",
        fitting(&kills),
        fitting(&by_random),
        fitting(&on_dominators),
        fitting(&coverage)
    );
    sentences(comparison).iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
    wrapped_lines(&text)
}

/// Returns which source is best at each size, by expected score where there is one and else on the dominators, and
/// what that does not tell.
fn sentences(comparison: &SourceComparison) -> Vec<String> {
    let mean = |source: &BySource, size: usize| match &source.random_expected {
        Some(scores) => scores[size],
        None => source.random_dominators[size].map(|moments| moments.mean),
    };
    let best = |size: usize| {
        let known = comparison.sources.iter().filter_map(|source| Some((source, mean(source, size)?)));
        // The first of equal ones.
        known.reduce(|best, next| if next.1 > best.1 { next } else { best })
    };
    let uniform = comparison.sources.iter().find(|other| other.source == InputSource::Uniform);
    let mut sentences = Vec::new();
    for (index, size) in comparison.sizes.iter().enumerate() {
        let Some((source, share)) = best(index) else { continue };
        let uniform =
            uniform.filter(|_| source.source != InputSource::Uniform).and_then(|uniform| mean(uniform, index));
        let [of_what, kill] = match comparison.expected {
            Some(_) => ["the highest expected score", "have"],
            None => ["most dominators", "kill"],
        };
        sentences.push(format!(
            "{} at random {} {of_what} if {} from {}: {}{}.",
            if *size == 1 { "One input".into() } else { format!("{size} inputs") },
            match (*size, kill) {
                (1, "have") => "has",
                (1, _) => "kills",
                (_, kill) => kill,
            },
            if *size == 1 { "it comes" } else { "they come" },
            source.source,
            percent(share),
            uniform.map_or_else(String::new, |uniform| format!(", where uniform ones {kill} {}", percent(uniform))),
        ));
    }
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
    use simutant_analysis::compare_sources;
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::{from_kills, reseeded};

    fn of(source: InputSource, kills: &[&str]) -> Outcomes {
        Outcomes { input_source: source, ..from_kills(kills) }
    }

    #[test]
    fn the_source_that_finds_most_is_told_at_each_size() {
        let all =
            [of(InputSource::Uniform, &["kk..", "....", "...."]), of(InputSource::Sobol, &["k...", "kkkk", "...."])];
        let text = flat(&sources_table(&compare_sources(&all)));
        let expect =
            "One input at random kills most dominators if it comes from sobol: 62.5 %, where uniform ones kill 25.0 %.";
        assert!(text.contains(expect), "{text}");
        assert!(text.contains("50.0 % (1 of 2)"), "{text}");
    }

    #[test]
    fn expected_scores_stand_before_dominators() {
        let uniform = reseeded(&[&[8, 0, 0, 0], &[0, 4, 0, 0], &[0, 0, 0, 0]]);
        let sobol =
            Outcomes { input_source: InputSource::Sobol, ..reseeded(&[&[0, 0, 0, 0], &[8, 8, 8, 8], &[0, 0, 0, 0]]) };
        let text = flat(&sources_table(&compare_sources(&[uniform, sobol])));
        assert!(
            text.contains("2 inputs at random have the highest expected score if they come from uniform: 41.7 %."),
            "{text}"
        );
    }

    #[test]
    fn without_kills_nothing_is_told_apart() {
        let all = [of(InputSource::Uniform, &["...."]), of(InputSource::Boundary, &["...."])];
        let text = flat(&sources_table(&compare_sources(&all)));
        assert!(text.contains("cannot be compared") && text.contains("none (0 of 0)"), "{text}");
    }
}
