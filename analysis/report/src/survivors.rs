//! The mutants that nothing kills, for a terminal: what they change, where, and how far they get.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use simutant_analysis::{Analysis, MutantClass, Survivor, case_name, plural};

use crate::change::shortened;
use crate::terminal::{WIDTH, wrapped, wrapped_at};

/// How many mutants of a group are listed.
const LISTED_MAX: usize = 20;

/// How many places the headline names.
const PLACES_MAX: usize = 3;

/// How wide the code of a change is.
const CODE: usize = 50;

/// Survivors that call for the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Those of a class, but for [`Group::Tuning`].
    Of(MutantClass),
    /// Those that change what happens, and no more than how long something takes or a constant.
    Tuning,
}

impl Group {
    fn has(self, survivor: &Survivor) -> bool {
        match self {
            Self::Of(class) => survivor.class == class && !survivor.is_tuning(),
            Self::Tuning => survivor.is_tuning(),
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Of(class) => class.fmt(formatter),
            Self::Tuning => formatter.write_str("never killed, timing and constants"),
        }
    }
}

/// The groups in the order in which they are listed, each with what its numbers count.
const GROUPS: [(Group, &str); 6] = [
    (Group::Of(MutantClass::NeverKilled), "so many test cases have other events than on the original, and all pass"),
    (
        Group::Of(MutantClass::NotKnown),
        "so many test cases infect it; the events of this system's runs do not show what differs",
    ),
    (Group::Of(MutantClass::NeverPropagated), "so many test cases infect it, and have the events of the original"),
    (Group::Of(MutantClass::NeverInfected), "so many test cases reach it, and none makes a difference there"),
    (Group::Of(MutantClass::NeverReached), "no test case executes the code"),
    (
        Group::Tuning,
        "so many test cases have other events, since something takes longer or shorter, or a constant differs",
    ),
];

/// Says how code is left out whose timing no check is to look at; `None` if no survivor only tunes.
pub(crate) fn skip_sentence(analysis: &Analysis) -> Option<String> {
    let tuning = analysis.survivors.iter().filter(|survivor| survivor.is_tuning());
    let operators: BTreeSet<&str> = tuning.map(|survivor| survivor.operator.as_str()).collect();
    let operators: Vec<&str> = operators.into_iter().collect();
    (!operators.is_empty()).then(|| {
        format!(
            "Where no check is to look at that, `// simutant: skip {}: REASON` before the code leaves it out.",
            operators.join(", ")
        )
    })
}

/// Returns how many mutants survive that are not equivalent.
fn surviving(analysis: &Analysis) -> usize {
    analysis.survivors.iter().filter(|survivor| survivor.class != MutantClass::Equivalent).count()
}

/// Says how many survivors change what happens, and where most of them are; `None` if none does.
pub(crate) fn headline(analysis: &Analysis) -> Option<String> {
    let surviving = surviving(analysis);
    let changing: Vec<&Survivor> = of_group(analysis, Group::Of(MutantClass::NeverKilled));
    let tuning = match of_group(analysis, Group::Tuning).len() {
        0 => String::new(),
        1 => " 1 more changes only how long something takes, or a constant.".to_owned(),
        tuning => format!(" {tuning} more change only how long something takes, or a constant."),
    };
    let mut places: BTreeMap<&str, Vec<&Survivor>> = BTreeMap::new();
    changing.iter().for_each(|survivor| places.entry(&survivor.function).or_default().push(survivor));
    let mut places: Vec<(&str, Vec<&Survivor>)> = places.into_iter().collect();
    places.sort_by_key(|(_, survivors)| Reverse((survivors.len(), survivors[0].diverged)));
    let place = |(function, survivors): &(&str, Vec<&Survivor>)| {
        format!("{function} ({}, {} of them)", most_frequent(survivors), survivors.len())
    };
    let named: Vec<String> = places.iter().take(PLACES_MAX).map(place).collect();
    let more = places.len() - named.len();
    let named = match named.split_last() {
        None => return None,
        Some((only, [])) => only.clone(),
        Some((last, others)) if more == 0 => format!("{} and {last}", others.join(", ")),
        Some(_) => format!("{}, and {}", named.join(", "), plural(more, "more function")),
    };
    let (change, pass) = if changing.len() == 1 { ("changes", "passes") } else { ("change", "pass") };
    Some(format!(
        "{} of {} {change} what happens and {pass}: your checks do not look at {named}.{tuning}",
        changing.len(),
        plural(surviving, "survivor"),
    ))
}

/// How wide the code of a change is in [`telling`]: the rest of the line are marks, and what stands for code that is cut off.
const CODE_SHOWN: usize = WIDTH - 8;

/// How many survivors [`telling`] shows.
const TELLING_MAX: usize = 3;

/// Says how many survivors change what happens, with the code of those that tell most: of functions and operators that
/// differ, as far as there are some, and what nobody has judged before what somebody has. `None` if none does.
pub(crate) fn telling(analysis: &Analysis) -> Option<String> {
    let surviving = surviving(analysis);
    let mut left = of_group(analysis, Group::Of(MutantClass::NeverKilled));
    let changing = left.len();
    let judged = left.iter().filter(|survivor| survivor.judgement.is_some()).count();
    let mut told: Vec<&Survivor> = Vec::new();
    while told.len() < TELLING_MAX && !left.is_empty() {
        let is_like = |one: &Survivor, is: fn(&Survivor, &Survivor) -> bool| told.iter().any(|other| is(one, other));
        let key = |place: &usize| {
            let one = left[*place];
            let [function, operator, line] = [
                is_like(one, |one, other| one.function == other.function),
                is_like(one, |one, other| one.operator == other.operator),
                is_like(one, |one, other| one.place == other.place),
            ];
            (one.judgement.is_some(), line, function, operator)
        };
        told.push(left.remove((0..left.len()).min_by_key(key)?));
    }
    let judged = match judged {
        0 => String::new(),
        judged if judged == changing => "; all are judged".to_owned(),
        judged => format!("; {judged} of them {} judged", if judged == 1 { "is" } else { "are" }),
    };
    let headline = format!(
        "{changing} of {} {} what happens, and no check notices{judged}{}:",
        plural(surviving, "survivor"),
        if changing == 1 { "changes" } else { "change" },
        if told.len() < changing { format!(". {} of them", told.len()) } else { String::new() },
    );
    let shown = |survivor: &Survivor| {
        let Survivor { place, function, mutant, operator, before, after, .. } = survivor;
        let (before, after) = shortened(before, after, CODE_SHOWN);
        let where_it_is = format!("{place} in {function}, mutant {mutant} ({operator})");
        let where_it_is = wrapped_at(&where_it_is, WIDTH - 2);
        let where_it_is: String = where_it_is.lines().map(|line| format!("  {line}\n")).collect();
        format!("{where_it_is}  - {before}\n  + {after}\n")
    };
    let shown: String = told.iter().map(|survivor| shown(survivor)).collect();
    (changing > 0).then(|| format!("{}\n{shown}", wrapped(&headline)))
}

/// The place with most of the survivors, of equals the first.
fn most_frequent<'a>(survivors: &[&'a Survivor]) -> &'a str {
    let count = |place: &str| survivors.iter().filter(|survivor| survivor.place == place).count();
    let places = survivors.iter().map(|survivor| survivor.place.as_str());
    places.min_by_key(|place| Reverse(count(place))).unwrap_or_default()
}

/// The survivors of a group, those first that get farthest in most test cases.
fn of_group(analysis: &Analysis, group: Group) -> Vec<&Survivor> {
    let mut survivors: Vec<&Survivor> = analysis.survivors.iter().filter(|survivor| group.has(survivor)).collect();
    survivors.sort_by_key(|survivor| Reverse(survivor.test_cases()));
    survivors
}

/// Returns the survivors of a group by function and place; functions and places are in the order of their first
/// survivors, so that those come first that change most runs.
pub(crate) fn by_place(analysis: &Analysis, group: Group) -> Vec<(&str, Vec<Vec<&Survivor>>)> {
    let mut functions: Vec<(&str, Vec<Vec<&Survivor>>)> = Vec::new();
    for survivor in of_group(analysis, group) {
        let known = functions.iter().position(|(function, _)| *function == survivor.function);
        let index = known.unwrap_or_else(|| {
            functions.push((&survivor.function, Vec::new()));
            functions.len() - 1
        });
        let places = &mut functions[index].1;
        match places.iter_mut().find(|place| is_of_one_line(place[0], survivor)) {
            Some(place) => place.push(survivor),
            None => places.push(vec![survivor]),
        }
    }
    functions
}

fn is_of_one_line(one: &Survivor, other: &Survivor) -> bool {
    one.place == other.place && one.before == other.before
}

/// Returns the lists of all groups, a line for each place and for each change; empty without survivors.
pub(crate) fn listing(analysis: &Analysis) -> String {
    let mut text = String::new();
    for (group, counted) in GROUPS {
        let functions = by_place(analysis, group);
        let count: usize = functions.iter().flat_map(|(_, places)| places).map(Vec::len).sum();
        if count == 0 {
            continue;
        }
        text.push_str(&format!("{}\n", wrapped(&format!("{group}, {}: {counted}", plural(count, "mutant")))));
        let mut left = LISTED_MAX;
        for (function, places) in functions {
            if left == 0 {
                break;
            }
            text.push_str(&format!(" {function}\n"));
            for place in places {
                let listed = &place[..place.len().min(left)];
                left -= listed.len();
                text.push_str(&of_place(listed, analysis));
            }
        }
        if count > LISTED_MAX {
            text.push_str(&format!(" {} more in report.html and results.json\n", count - LISTED_MAX));
        }
        if let Some(sentence) = skip_sentence(analysis).filter(|_| group == Group::Tuning) {
            text.push_str(&format!("{}\n", wrapped(&sentence)));
        }
    }
    text
}

/// The changes of one line of code.
fn of_place(survivors: &[&Survivor], analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut shown_before = None;
    for survivor in survivors {
        let (before, after) = shortened(&survivor.before, &survivor.after, CODE);
        if shown_before.as_ref() != Some(&before) {
            let example = survivor.example.map(|case| case_name(&analysis.system, case, analysis.campaign.cases));
            let see = example.map_or_else(String::new, |example| format!(", see {example}"));
            text.push_str(&format!("  {}{see}\n", survivor.place));
            text.push_str(&format!("{:>24} {before}\n", "-"));
            shown_before = Some(before);
        }
        let mutant = format!("[{}] {}", survivor.mutant, survivor.operator);
        let count = if survivor.reached == 0 { String::new() } else { survivor.test_cases().to_string() };
        text.push_str(&format!("    {mutant:<12} {count:>5} + {after}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::flat;
    use crate::{report, tables};
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::from_kills;

    /// Three functions; the second one's mutant changes most runs.
    fn outcomes() -> Outcomes {
        let mut outcomes = from_kills(&["d....", "ddd..", ".dd..", "d....", "k....", "i....", "r....", "....."]);
        let sites = &mut outcomes.sites;
        let text = "fn f() -> u8 { 1 }\nfn g() -> u8 { 2 }\n";
        sites.files[0].text = text.into();
        let mut other = sites.functions[0].clone();
        other.path = "small::g".into();
        other.span = simutant_outcomes::Span { start: 19, end: 37, line: 2, line_end: 2, ..other.span };
        sites.functions.push(other);
        for mutant in [1, 2] {
            let mutant = &mut sites.mutants[mutant];
            let start = text.find('2').expect("it is there");
            mutant.function = 1;
            mutant.original = "2".into();
            mutant.span = simutant_outcomes::Span { start, end: start + 1, line: 2, line_end: 2, ..mutant.span };
        }
        outcomes
    }

    #[test]
    fn survivors_are_grouped_by_place_and_those_that_change_most_come_first() {
        let outcomes = outcomes();
        let analysis =
            analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }).expect("sound");
        assert_eq!(
            headline(&analysis).as_deref(),
            Some(
                "4 of 7 survivors change what happens and pass: your checks do not look at small::g (src/lib.rs:2, 2 of them) and \
                 small::f (src/lib.rs:1, 2 of them)."
            )
        );
        insta::assert_snapshot!(listing(&analysis));
        let (shown, page) = (tables(&analysis, None), report(&outcomes, &analysis, None));
        let headline = headline(&analysis).expect("there are survivors");
        assert!(page.contains(&headline), "{page}");
        assert!(flat(&shown).contains(&headline), "{shown}");
        let (list, criteria) = (shown.find("[1] LVR"), shown.find("\nCriteria: "));
        assert!(list.is_some() && list < criteria, "survivors come first: {shown}");
        assert!(listing(&analysis).lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn what_only_tunes_is_a_group_of_its_own_at_the_end() {
        let mut outcomes = outcomes();
        outcomes.sites.mutants[1].operator = "DLY".into();
        let analysis =
            analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }).expect("sound");
        let headline = headline(&analysis).expect("there are survivors");
        assert!(headline.starts_with("3 of 7 survivors change what happens and pass: "), "{headline}");
        assert!(headline.ends_with(" 1 more changes only how long something takes, or a constant."), "{headline}");
        let list = flat(&listing(&analysis));
        let group = list.find("never killed, timing and constants, 1 mutant: ").expect("there is a group");
        let last = list.find("never reached, ").expect("there is one");
        assert!(last < group && list.find("[1] DLY").is_some_and(|place| group < place), "{list}");
        assert!(list.contains("`// simutant: skip DLY: REASON`"), "{list}");
        let page = report(&outcomes, &analysis, None);
        assert!(page.contains("<code>// simutant: skip DLY: REASON</code>"));
        let tile = "change what happens</dt><dd>3</dd><dd class=\"note\">and pass: no check looks at it; 1 more only in time, or a constant<";
        assert!(page.contains(tile), "{page}");
    }

    #[test]
    fn without_survivors_that_change_anything_there_is_no_headline() {
        let analysis = analyse(&from_kills(&["k...", "i..."]), &AnalysisOptions::default()).expect("sound outcomes");
        assert_eq!(headline(&analysis), None);
        assert!(listing(&analysis).starts_with("never propagated, 1 mutant: "));
        let one = analyse(&from_kills(&["k...", "d..."]), &AnalysisOptions::default()).expect("sound outcomes");
        assert!(
            headline(&one).is_some_and(|line| line.starts_with("1 of 1 survivor changes what happens and passes: "))
        );
    }
}
