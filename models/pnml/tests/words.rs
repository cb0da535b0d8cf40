//! Counts are exact whatever their size, and markings and firings are told in words.

use simutant_pnml::{Budget, ExploreError, NetKind, PnmlNet, StateSpace, UnfoldError};

/// Numbers of places, with tokens.
type Counts<'a> = &'a [(usize, u64)];

/// Returns a place/transition net: places with tokens, then transitions with what they take and put.
fn plain(places: &[(&str, u64)], transitions: &[(Counts<'_>, Counts<'_>)]) -> PnmlNet {
    let mut page = String::new();
    for (number, (name, tokens)) in places.iter().enumerate() {
        page += &format!(
            "<place id=\"p{number}\"><name><text>{name}</text></name><initialMarking><text>{tokens}</text></initialMarking></place>"
        );
    }
    for (number, (inputs, outputs)) in transitions.iter().enumerate() {
        page += &format!("<transition id=\"t{number}\"/>");
        for (place, count) in *inputs {
            page += &format!(
                "<arc id=\"i{number}-{place}\" source=\"p{place}\" target=\"t{number}\"><inscription><text>{count}</text></inscription></arc>"
            );
        }
        for (place, count) in *outputs {
            page += &format!(
                "<arc id=\"o{number}-{place}\" source=\"t{number}\" target=\"p{place}\"><inscription><text>{count}</text></inscription></arc>"
            );
        }
    }
    let file = format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" type=\"{}\"><page id=\"page\">{page}</page></net></pnml>",
        NetKind::PlaceTransition.uri()
    );
    PnmlNet::read(&file).expect("it is right")
}

fn explore(net: &PnmlNet, markings_max: Option<usize>) -> Result<StateSpace, ExploreError> {
    net.unfold().expect("it is small").explore(&Budget { markings: markings_max, bytes: Some(1 << 28) })
}

fn counts(space: &StateSpace) -> [usize; 3] {
    [space.graph().markings(), space.graph().arcs(), space.graph().dead().len()]
}

#[test]
fn more_tokens_than_sixteen_bits_count_are_exact() {
    let places = [("from", 100_000), ("to", 0), ("seen", 0)];
    let mut space = explore(&plain(&places, &[(&[(0, 1)], &[(1, 1), (2, 3)])]), None).expect("it is small");
    assert_eq!(counts(&space), [100_001, 100_000, 1]);
    let most: Vec<u64> = space.bounds().into_iter().map(|(_, most)| most).collect();
    assert_eq!(most, [100_000, 100_000, 300_000]);
    assert_eq!(space.marking(65_537).to_string(), "from: 34463; to: 65537; seen: 196611");
    assert_eq!(space.firings_to(70_000).len(), 70_000);
}

#[test]
fn every_count_below_the_first_widths_is_exact() {
    // A place passes through all widths while its neighbour, in the same word, stays as it is.
    for most in 1..70 {
        let places = [("up", 0), ("rest", most), ("one", 1), ("neighbour", 3)];
        let space = explore(&plain(&places, &[(&[(1, 1), (2, 1), (3, 3)], &[(0, 1), (2, 1), (3, 3)])]), None);
        let space = space.expect("it is small");
        assert_eq!(counts(&space), [most as usize + 1, most as usize, 1]);
        assert_eq!(space.marking(most as usize).to_string(), format!("up: {most}; one: 1; neighbour: 3"));
    }
}

#[test]
fn weights_and_counts_of_32_bits_are_exact_and_more_is_an_error() {
    let most = u64::from(u32::MAX);
    let places = [("a", most), ("b", 0)];
    let space = explore(&plain(&places, &[(&[(0, most)], &[(1, most)]), (&[(1, most)], &[(0, most)])]), None);
    assert_eq!(counts(&space.expect("it is small")), [2, 2, 0]);
    let too_many = |what: &str| Some(ExploreError::TooMany { what: format!("tokens of `{what}`") });
    assert_eq!(explore(&plain(&places, &[(&[(0, 1)], &[(0, 2)])]), None).err(), too_many("a"));
    assert_eq!(explore(&plain(&[("a", most + 1)], &[]), None).err(), too_many("a"));
    assert_eq!(explore(&plain(&[("a", 1), ("b", 1)], &[(&[(0, 1)], &[(1, u64::MAX)])]), None).err(), too_many("b"));
}

#[test]
fn an_unbounded_place_is_named() {
    let net = plain(&[("stays", 7), ("grows", 0)], &[(&[(0, 7)], &[(0, 7), (1, 2)])]);
    let expected = |markings, limit: &str, most| ExploreError::Exhausted {
        limit: limit.to_owned(),
        markings,
        grows: format!("the place `grows` has had up to {most} tokens"),
    };
    assert_eq!(explore(&net, Some(100)).err(), Some(expected(101, "100 markings", 200)));
}

#[test]
fn markings_and_firings_are_told_in_words() {
    let net = PnmlNet::read(include_str!("nets/votes.pnml")).expect("it is right");
    assert_eq!((net.name(), net.kind(), net.places().len(), net.arcs()), ("votes", NetKind::Symmetric, 7, 13));
    assert_eq!(net.transitions(), ["lead", "agree", "vote", "keep", "quarrel"]);
    let unfolded = net.unfold().expect("it is small");
    assert!((unfolded.places() as u64) < unfolded.places_with_unmarked());
    let mut space = unfolded.explore(&Budget::default()).expect("it is small");
    assert_eq!(space.marking(0).to_string(), "idle: n0, n1, n2");
    let agreed = (0..space.graph().markings()).find(|&it| space.marking(it).to_string() == "agreed: 3 x no");
    let firings: Vec<String> =
        space.firings_to(agreed.expect("they may agree")).iter().map(ToString::to_string).collect();
    assert_eq!(firings.len(), 6);
    assert_eq!(firings[0], "lead(x = n0)");
    assert_eq!(firings[5], "agree(x = n0, w = no)");
    assert!(firings.contains(&"keep(b = (n1, no))".to_owned()), "{firings:?}");
}

#[test]
fn an_initial_marking_that_subtracts_too_much_is_an_error() {
    let file = include_str!("nets/philosophers.pnml");
    let numberof = file.find("<numberof>").expect("there is one");
    let end = file[numberof..].find("</numberof>").expect("it ends") + numberof + "</numberof>".len();
    let term = &file[numberof..end];
    let too_much =
        format!("<subtract><subterm>{term}</subterm><subterm>{term}</subterm><subterm>{term}</subterm></subtract>");
    let net = PnmlNet::read(&file.replacen(term, &too_much, 1)).expect("it is right");
    assert_eq!(net.unfold().err(), Some(UnfoldError::NegativeMarking { place: "thinking".to_owned() }));
}

/// A transition takes a tuple of six numbers up to a thousand, and a guard says which.
const LARGE: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="large" type="http://www.pnml.org/version-2009/grammar/symmetricnet">
<declaration><structure><declarations>
<namedsort id="N" name="N"><finiteintrange start="1" end="1000"/></namedsort>
<namedsort id="T" name="T"><productsort>N6</productsort></namedsort>
VARIABLES
</declarations></structure></declaration>
<page id="page">
<place id="p"><type><structure><usersort declaration="T"/></structure></type>
<hlinitialMarking><structure><tuple>START</tuple></structure></hlinitialMarking></place>
<transition id="turn"><condition><structure><equality><subterm>g</subterm><subterm><successor><subterm>a</subterm></successor></subterm></equality></structure></condition></transition>
<arc id="in" source="p" target="turn"><hlinscription><structure><tuple>abcdef</tuple></structure></hlinscription></arc>
<arc id="out" source="turn" target="p"><hlinscription><structure><tuple>bcdefg</tuple></structure></hlinscription></arc>
</page></net></pnml>"#;

#[test]
fn variables_are_bound_by_tokens_and_equalities() {
    let variable = |name: char| format!("<variable refvariable=\"v{name}\"/>");
    let tuple =
        |names: &str| names.chars().map(|name| format!("<subterm>{}</subterm>", variable(name))).collect::<String>();
    let declared = |name: char| {
        format!("<variabledecl id=\"v{name}\" name=\"{name}\"><usersort declaration=\"N\"/></variabledecl>")
    };
    let number = |value: usize| {
        let range = "<finiteintrange start=\"1\" end=\"1000\"/>";
        format!("<subterm><finiteintrangeconstant value=\"{value}\">{range}</finiteintrangeconstant></subterm>")
    };
    let file = LARGE
        .replace("N6", &"<usersort declaration=\"N\"/>".repeat(6))
        .replace("VARIABLES", &"abcdefg".chars().map(declared).collect::<String>())
        .replace("START", &[999, 1, 5, 1000, 2, 1000].map(number).concat())
        .replace(">abcdef<", &format!(">{}<", tuple("abcdef")))
        .replace(">bcdefg<", &format!(">{}<", tuple("bcdefg")))
        .replace(">g<", &format!(">{}<", variable('g')))
        .replace(">a<", &format!(">{}<", variable('a')));
    let net = PnmlNet::read(&file).expect("it is right");
    let unfolded = net.unfold().expect("there are 6,000 bindings");
    assert_eq!(unfolded.places_with_unmarked(), 1_000_000_000_000_000_000);
    assert_eq!((unfolded.places(), unfolded.transitions()), (6_000, 6_000));
    let mut space = unfolded.explore(&Budget::default()).expect("it is small");
    assert_eq!(counts(&space), [6_000, 6_000, 0]);
    assert_eq!(space.marking(1).to_string(), "p: (1, 5, 1000, 2, 1000, 1000)");
    let fired = "turn(a = 999, b = 1, c = 5, d = 1000, e = 2, f = 1000, g = 1000)";
    assert_eq!(space.firings(0)[0].to_string(), fired);
}

#[test]
fn what_is_too_large_is_an_error() {
    let all = "<all><finiteintrange start=\"1\" end=\"4294967296\"/></all>";
    let file = |term: &str| {
        format!(
            "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" type=\"{}\"><page id=\"page\"><place \
             id=\"p\"><type><structure><finiteintrange start=\"1\" end=\"4294967296\"/></structure></type><hlinitialMarking>\
             <structure>{term}</structure></hlinitialMarking></place></page></net></pnml>",
            NetKind::Symmetric.uri()
        )
    };
    let error = |term: &str| PnmlNet::read(&file(term)).expect("it is right").unfold().err();
    let element = || "p".to_owned();
    assert_eq!(error(all), Some(UnfoldError::TooManyColours { element: element(), limit: 1 << 24 }));
    let one =
        "<finiteintrangeconstant value=\"7\"><finiteintrange start=\"1\" end=\"4294967296\"/></finiteintrangeconstant>";
    let most = "<numberconstant value=\"18446744073709551615\"><positive/></numberconstant>";
    let most = format!("<numberof><subterm>{most}</subterm><subterm>{one}</subterm></numberof>");
    assert_eq!(error(&most), None);
    let sum = format!("<add><subterm>{most}</subterm><subterm>{one}</subterm></add>");
    assert_eq!(error(&sum), Some(UnfoldError::TooManyTokens { element: element() }));
}

/// Returns a symmetric net: places of numbers up to three, of pairs of these, and of numbers from two on, and a
/// transition.
fn numbers(low: &str, high: &str, condition: &str, arcs: &[String]) -> PnmlNet {
    ranges(2, low, high, condition, arcs)
}

/// Returns the same net with numbers from `least` on instead of two.
fn ranges(least: u8, low: &str, high: &str, condition: &str, arcs: &[String]) -> PnmlNet {
    let marking = |term: &str| match term {
        "" => String::new(),
        _ => format!("<hlinitialMarking><structure>{term}</structure></hlinitialMarking>"),
    };
    let file = format!(
        r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="{}">
        <declaration><structure><declarations>
        <namedsort id="L" name="L"><finiteintrange start="1" end="3"/></namedsort>
        <namedsort id="H" name="H"><finiteintrange start="{least}" end="9"/></namedsort>
        <namedsort id="LL" name="LL"><productsort><usersort declaration="L"/><usersort declaration="L"/></productsort></namedsort>
        <variabledecl id="l" name="l"><usersort declaration="L"/></variabledecl>
        <variabledecl id="h" name="h"><usersort declaration="H"/></variabledecl>
        </declarations></structure></declaration><page id="page">
        <place id="low"><type><structure><usersort declaration="L"/></structure></type>{}</place>
        <place id="pairs"><type><structure><usersort declaration="LL"/></structure></type></place>
        <place id="high"><type><structure><usersort declaration="H"/></structure></type>{}</place>
        <transition id="t">{condition}</transition>{}
        </page></net></pnml>"#,
        NetKind::Symmetric.uri(),
        marking(low),
        marking(high),
        arcs.concat(),
    );
    PnmlNet::read(&file).expect("it is right")
}

fn variable(name: &str) -> String {
    format!("<variable refvariable=\"{name}\"/>")
}

fn integer(value: u8, start: u8, end: u8) -> String {
    let range = format!("<finiteintrange start=\"{start}\" end=\"{end}\"/>");
    format!("<finiteintrangeconstant value=\"{value}\">{range}</finiteintrangeconstant>")
}

fn numberof(count: u64, of: &str) -> String {
    let kind = if count == 0 { "natural" } else { "positive" };
    let count = format!("<numberconstant value=\"{count}\"><{kind}/></numberconstant>");
    format!("<numberof><subterm>{count}</subterm><subterm>{of}</subterm></numberof>")
}

fn arc(source: &str, target: &str, term: &str) -> String {
    format!(
        "<arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\"><hlinscription><structure>{term}</structure>\
         </hlinscription></arc>"
    )
}

fn equality(left: &str, right: &str) -> String {
    let sides = format!("<subterm>{left}</subterm><subterm>{right}</subterm>");
    format!("<condition><structure><equality>{sides}</equality></structure></condition>")
}

const ALL: &str = "<all><usersort declaration=\"L\"/></all>";

#[test]
fn numbers_of_two_ranges_are_compared_and_not_their_places() {
    let arcs = [arc("low", "t", &variable("l")), arc("t", "high", &variable("h"))];
    let net = numbers(ALL, "", &equality(&variable("l"), &variable("h")), &arcs);
    let mut space = explore(&net, None).expect("it is small");
    // The number 1 is not in the other range.
    assert_eq!(counts(&space), [4, 4, 1]);
    assert_eq!(space.marking(3).to_string(), "low: 1; high: 2, 3");
    assert_eq!(space.firings(0)[1].to_string(), "t(l = 3, h = 3)");
}

#[test]
fn a_variable_of_a_short_range_is_no_number_beyond_it() {
    let all = "<all><usersort declaration=\"H\"/></all>";
    let next = format!("<successor><subterm>{}</subterm></successor>", variable("l"));
    // By the number 1, 2 or 3, and by its predecessor among these.
    for low in [variable("l"), next] {
        let arcs = [arc("high", "t", &variable("h")), arc("t", "low", &variable("l"))];
        let net = ranges(1, "", all, &equality(&low, &variable("h")), &arcs);
        let space = explore(&net, None).expect("it is small");
        assert_eq!(counts(&space), [8, 12, 1]);
        assert_eq!(space.marking(7).to_string(), "low: 1, 2, 3; high: 4, 5, 6, 7, 8, 9");
    }
}

#[test]
fn a_tuple_of_none_takes_nothing() {
    let none = format!("<tuple><subterm>{}</subterm><subterm>{ALL}</subterm></tuple>", numberof(0, ALL));
    let arcs = [arc("pairs", "t", &none), arc("low", "t", ALL), arc("t", "high", &variable("h"))];
    let space = explore(&numbers(ALL, "", &equality(&variable("h"), &integer(9, 2, 9)), &arcs), None);
    let space = space.expect("it is small");
    assert_eq!(counts(&space), [2, 1, 1]);
    assert_eq!(space.marking(1).to_string(), "high: 9");
}

#[test]
fn colours_of_a_place_have_as_many_bits_as_the_one_that_needs_most() {
    let (low, high) = (numberof(300, &integer(1, 1, 3)), numberof(5, &integer(2, 2, 9)));
    let next = format!("<successor><subterm>{}</subterm></successor>", variable("l"));
    let arcs = [arc("low", "t", &variable("l")), arc("t", "low", &next), arc("high", "t", &variable("h"))];
    let space = explore(&numbers(&low, &high, "", &arcs), None).expect("it is small");
    // By five firings: 1, 1, 2, 3, 4 and 5 markings, as three firings of one token change nothing.
    assert_eq!(space.graph().markings(), 16);
    let most: Vec<u64> = space.bounds().into_iter().map(|(_, most)| most).collect();
    assert_eq!(most, [300, 0, 5]);
    assert!((0..16).any(|it| space.marking(it).to_string() == "low: 295 x 1, 5 x 2"));
}
