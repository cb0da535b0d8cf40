//! Nets have the state spaces that a naive explorer finds: our own nets, and random ones.

#[path = "nets/naive.rs"]
mod naive;

use naive::{Found, Space};
use proptest::prelude::*;
use simutant_pnml::{Budget, ExploreError, PnmlNet, StateSpace, UnfoldError};

/// How many markings the naive explorer looks at.
const MARKINGS_MAX: usize = 100;

/// Returns a state space in words.
fn words(space: &mut StateSpace) -> Space {
    let count = space.graph().markings();
    let all: Vec<String> = (0..count).map(|number| space.marking(number).to_string()).collect();
    let mut arcs = Vec::new();
    for number in 0..count {
        for fired in space.firings(number) {
            arcs.push([all[number].clone(), fired.to_string(), all[fired.marking].clone()]);
        }
    }
    assert_eq!(arcs.len(), space.graph().arcs());
    arcs.sort();
    let dead = space.graph().dead().len();
    let space = Space { markings: all.into_iter().collect(), arcs, dead };
    assert_eq!(space.markings.len(), count, "a marking has two numbers");
    space
}

/// Explores a file as a user does.
fn explore(net: &PnmlNet, markings_max: usize) -> Found {
    let unfolded = match net.unfold() {
        Ok(unfolded) => unfolded,
        Err(UnfoldError::NegativeMarking { .. }) => return Found::Negative,
        Err(error) => panic!("{error}"),
    };
    match unfolded.explore(&Budget { markings: Some(markings_max), bytes: None }) {
        Ok(mut space) => Found::Space(words(&mut space)),
        Err(ExploreError::Exhausted { .. }) => Found::TooMany,
        Err(error) => panic!("{error}"),
    }
}

/// Checks a file against the naive explorer, and again after it was written, and after the unfolded net was written.
#[track_caller]
fn check_file(file: &str, markings_max: usize) -> [usize; 3] {
    let net = PnmlNet::read(file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    let again = PnmlNet::read(&net.to_pnml()).unwrap_or_else(|error| panic!("{error}\n{file}"));
    assert_eq!(net, again);
    let expected = naive::explore(file, markings_max);
    let found = explore(&net, markings_max);
    assert_eq!(found, expected, "{file}");
    let Found::Space(space) = found else { return [0; 3] };
    let counts = [space.markings.len(), space.arcs.len(), space.dead];
    let flat = net.unfold().expect("it was unfolded before").to_net();
    let flat_again = PnmlNet::read(&flat.to_pnml()).expect("it was written by us");
    assert_eq!(flat, flat_again);
    let Found::Space(flat) = explore(&flat, markings_max) else { panic!("the unfolded net differs\n{file}") };
    assert_eq!([flat.markings.len(), flat.arcs.len(), flat.dead], counts, "{file}");
    // No unfolded transition is left over that another one is not.
    let unfolded = net.unfold().expect("it was unfolded before");
    assert!(unfolded.places() as u64 <= unfolded.places_with_unmarked());
    counts
}

macro_rules! net {
    ($name:literal) => {
        include_str!(concat!("nets/", $name, ".pnml"))
    };
}

#[test]
fn own_nets_have_the_state_spaces_of_the_naive_explorer() {
    let counts = [
        (net!("philosophers"), [34, 100, 0]),
        (net!("token_ring"), [245, 915, 0]),
        (net!("peterson"), [20, 34, 0]),
        (net!("producer_consumer"), [11, 20, 0]),
        (net!("classes"), [119, 272, 9]),
        (net!("votes"), [80, 138, 7]),
    ];
    let found: Vec<[usize; 3]> = counts.iter().map(|(file, _)| check_file(file, 100_000)).collect();
    assert_eq!(found, counts.map(|(_, expected)| expected));
}

/// Colours in which random terms are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Dot,
    Bool,
    /// A cyclic enumeration of three, and a finite one of two.
    Three,
    Two,
    /// The numbers 4 to 6.
    Range,
    /// Three by two.
    Pair,
    /// A product of one component, which is a range.
    Single,
    /// A pair by a range.
    Nested,
    /// A partition of three.
    Class,
}

const SORTS: [Sort; 9] =
    [Sort::Dot, Sort::Bool, Sort::Three, Sort::Two, Sort::Range, Sort::Pair, Sort::Single, Sort::Nested, Sort::Class];

const DECLARATIONS: &str = r#"
<namedsort id="Nested" name="Nested"><productsort><usersort declaration="Pair"/><usersort declaration="Range"/></productsort></namedsort>
<variabledecl id="x" name="x"><usersort declaration="Three"/></variabledecl>
<variabledecl id="y" name="y"><usersort declaration="Three"/></variabledecl>
<variabledecl id="b" name="b"><usersort declaration="Two"/></variabledecl>
<namedsort id="Three" name="Three"><cyclicenumeration>
  <feconstant id="k0" name="k0"/><feconstant id="k1" name="k1"/><feconstant id="k2" name="k2"/>
</cyclicenumeration></namedsort>
<namedsort id="Two" name="Two"><finiteenumeration><feconstant id="u0" name="u0"/><feconstant id="u1" name="u1"/></finiteenumeration></namedsort>
<namedsort id="Range" name="Range"><finiteintrange start="4" end="6"/></namedsort>
<namedsort id="Pair" name="Pair"><productsort><usersort declaration="Three"/><usersort declaration="Two"/></productsort></namedsort>
<namedsort id="Single" name="Single"><productsort><usersort declaration="Range"/></productsort></namedsort>
<namedsort id="Dot" name="Dot"><dot/></namedsort>
<namedsort id="Bool" name="Bool"><bool/></namedsort>
<partition id="Class" name="Class"><usersort declaration="Three"/>
  <partitionelement id="c0" name="c0"><useroperator declaration="k2"/></partitionelement>
  <partitionelement id="c1" name="c1"><useroperator declaration="k0"/><useroperator declaration="k1"/></partitionelement>
</partition>
<variabledecl id="r" name="r"><usersort declaration="Range"/></variabledecl>
<variabledecl id="p" name="p"><usersort declaration="Pair"/></variabledecl>
<variabledecl id="c" name="c"><usersort declaration="Class"/></variabledecl>
<variabledecl id="o" name="o"><usersort declaration="Bool"/></variabledecl>
"#;

/// Draws: each takes the next one, so that a shorter list is a simpler net.
struct Draws<'a>(std::slice::Iter<'a, u8>);

impl Draws<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn operator(name: &str, terms: &[String]) -> String {
    let terms: String = terms.iter().map(|term| format!("<subterm>{term}</subterm>")).collect();
    format!("<{name}>{terms}</{name}>")
}

fn variable(name: &str) -> String {
    format!("<variable refvariable=\"{name}\"/>")
}

fn constant(name: &str) -> String {
    format!("<useroperator declaration=\"{name}\"/>")
}

fn number(count: usize) -> String {
    let kind = if count == 0 { "natural" } else { "positive" };
    format!("<numberconstant value=\"{count}\"><{kind}/></numberconstant>")
}

fn integer(value: usize) -> String {
    format!(
        "<finiteintrangeconstant value=\"{value}\"><finiteintrange start=\"4\" end=\"6\"/></finiteintrangeconstant>"
    )
}

/// Returns a term of one colour; without variables if it is for an initial marking.
fn single(sort: Sort, has_variables: bool, draws: &mut Draws<'_>) -> String {
    let step = |draws: &mut Draws<'_>| {
        let name = draws.pick(&["successor", "predecessor"]);
        operator(name, &[single(sort, has_variables, draws)])
    };
    let variables: &[&str] = match sort {
        Sort::Three => &["x", "y"],
        Sort::Two => &["b"],
        Sort::Range | Sort::Single => &["r"],
        Sort::Pair => &["p"],
        Sort::Class => &["c"],
        Sort::Bool => &["o"],
        Sort::Dot | Sort::Nested => &[],
    };
    if has_variables && !variables.is_empty() && draws.below(3) > 0 {
        return variable(draws.pick(variables));
    }
    match sort {
        Sort::Dot => "<dotconstant/>".to_owned(),
        Sort::Bool => match draws.below(4) {
            0 if has_variables => guard(draws, 1),
            1 => "<booleanconstant value=\"true\"/>".to_owned(),
            _ => "<booleanconstant value=\"false\"/>".to_owned(),
        },
        Sort::Three | Sort::Two | Sort::Range | Sort::Class if draws.below(3) == 1 => step(draws),
        Sort::Three => constant(draws.pick(&["k0", "k1", "k2"])),
        Sort::Two => constant(draws.pick(&["u0", "u1"])),
        Sort::Range => integer(4 + draws.below(3)),
        Sort::Class if draws.below(2) == 1 => {
            let of = single(Sort::Three, has_variables, draws);
            format!("<partitionelementof refpartition=\"Class\"><subterm>{of}</subterm></partitionelementof>")
        }
        Sort::Class => constant(draws.pick(&["c0", "c1"])),
        Sort::Pair => {
            let parts = [Sort::Three, Sort::Two].map(|sort| single(sort, has_variables, draws));
            operator("tuple", &parts)
        }
        Sort::Single => {
            let part = single(Sort::Range, has_variables, draws);
            if draws.below(2) == 0 { part } else { operator("tuple", &[part]) }
        }
        Sort::Nested => {
            let parts = [Sort::Pair, Sort::Range].map(|sort| single(sort, has_variables, draws));
            operator("tuple", &parts)
        }
    }
}

/// Returns a term of any tokens.
fn tokens(sort: Sort, has_variables: bool, depth: usize, draws: &mut Draws<'_>) -> String {
    let kind = if depth == 0 { 0 } else { draws.below(12) };
    let mut part = |sort| tokens(sort, has_variables, depth - 1, draws);
    match kind {
        6 => operator("add", &[part(sort), part(sort)]),
        7 => operator("subtract", &[part(sort), part(sort)]),
        8 => format!("<all><usersort declaration=\"{sort:?}\"/></all>"),
        9 => match sort {
            Sort::Pair => operator("tuple", &[part(Sort::Three), part(Sort::Two)]),
            Sort::Nested => operator("tuple", &[part(Sort::Pair), part(Sort::Range)]),
            _ => operator("add", &[part(sort)]),
        },
        10 => {
            let of = part(sort);
            operator(draws.pick(&["numberof", "scalarproduct"]), &[number(draws.below(4)), of])
        }
        11 => {
            let all = format!("<all><usersort declaration=\"{sort:?}\"/></all>");
            operator("subtract", &[all, part(sort)])
        }
        1 => format!("<empty><usersort declaration=\"{sort:?}\"/></empty>"),
        _ => single(sort, has_variables, draws),
    }
}

fn guard(draws: &mut Draws<'_>, depth: usize) -> String {
    let kind = if depth == 0 { 6 } else { draws.below(9) };
    let mut part = || guard(draws, depth - 1);
    match kind {
        0 => operator("and", &[part(), part()]),
        1 => operator("or", &[part(), part(), part()]),
        2 => operator("not", &[part()]),
        3 => operator("imply", &[part(), part()]),
        4 => variable("o"),
        _ => {
            let sort =
                draws.pick(&[Sort::Three, Sort::Three, Sort::Two, Sort::Range, Sort::Class, Sort::Pair, Sort::Single]);
            let ordered = [
                "equality",
                "inequality",
                "lessthan",
                "lessthanorequal",
                "greaterthan",
                "greaterthanorequal",
                "ltp",
                "gtp",
            ];
            let names = if sort == Sort::Pair { &ordered[..2] } else { &ordered };
            let name = draws.pick(names);
            operator(name, &[single(sort, true, draws), single(sort, true, draws)])
        }
    }
}

/// Returns a symmetric net.
fn symmetric(draws: &mut Draws<'_>) -> String {
    let (mut nodes, mut arcs) = (String::new(), String::new());
    let sorts: Vec<Sort> = (0..2 + draws.below(3)).map(|_| draws.pick(&SORTS)).collect();
    for (number, sort) in sorts.iter().enumerate() {
        let tokens = match draws.below(5) {
            0 => None,
            1 | 2 => Some(tokens(*sort, false, 2, draws)),
            _ => Some(format!("<all><usersort declaration=\"{sort:?}\"/></all>")),
        };
        let marking = tokens.map(|term| format!("<hlinitialMarking><structure>{term}</structure></hlinitialMarking>"));
        let marking = marking.unwrap_or_default();
        nodes += &format!(
            "<place id=\"p{number}\"><type><structure><usersort declaration=\"{sort:?}\"/></structure></type>{marking}</place>\n"
        );
    }
    for transition in 0..1 + draws.below(3) {
        let condition = match draws.below(3) {
            0 => format!("<condition><structure>{}</structure></condition>", guard(draws, 2)),
            _ => String::new(),
        };
        nodes += &format!("<transition id=\"t{transition}\">{condition}</transition>\n");
        for is_input in [true, false] {
            for _ in 0..usize::from(is_input) + draws.below(2) {
                let place = draws.below(sorts.len());
                let term = tokens(sorts[place], true, 2, draws);
                arcs += &arc(
                    arcs.lines().count(),
                    place,
                    transition,
                    is_input,
                    &format!("<hlinscription><structure>{term}</structure></hlinscription>"),
                );
            }
        }
    }
    let declaration =
        format!("<declaration><structure><declarations>{DECLARATIONS}</declarations></structure></declaration>");
    file("symmetricnet", &declaration, &(nodes + &arcs))
}

fn arc(number: usize, place: usize, transition: usize, is_input: bool, inscription: &str) -> String {
    let (place, transition) = (format!("p{place}"), format!("t{transition}"));
    let (source, target) = if is_input { (place, transition) } else { (transition, place) };
    format!("<arc id=\"a{number}\" source=\"{source}\" target=\"{target}\">{inscription}</arc>\n")
}

fn file(kind: &str, declaration: &str, page: &str) -> String {
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"random\" type=\"http://www.pnml.org/version-2009/grammar/{kind}\">{declaration}\n\
         <page id=\"page\">\n{page}</page></net></pnml>"
    )
}

/// Returns a place/transition net: weights of up to 6, and up to 20 tokens at first.
fn place_transition(draws: &mut Draws<'_>) -> String {
    let (mut nodes, mut arcs) = (String::new(), String::new());
    let places = 2 + draws.below(4);
    for number in 0..places {
        let marking = draws.pick(&[0, 1, 1, 2, 5, 20]);
        nodes += &format!("<place id=\"p{number}\"><initialMarking><text>{marking}</text></initialMarking></place>\n");
    }
    for transition in 0..1 + draws.below(4) {
        nodes += &format!("<transition id=\"t{transition}\"/>\n");
        for is_input in [true, false] {
            for _ in 0..1 + draws.below(2) {
                let inscription = match draws.below(7) {
                    0 => String::new(),
                    weight => format!("<inscription><text>{weight}</text></inscription>"),
                };
                arcs += &arc(arcs.lines().count(), draws.below(places), transition, is_input, &inscription);
            }
        }
    }
    file("ptnet", "", &(nodes + &arcs))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_symmetric_nets_have_the_state_spaces_of_the_naive_explorer(draws in prop::collection::vec(any::<u8>(), 20..200)) {
        check_file(&symmetric(&mut Draws(draws.iter())), MARKINGS_MAX);
    }

    #[test]
    fn random_place_transition_nets_have_the_state_spaces_of_the_naive_explorer(
        draws in prop::collection::vec(any::<u8>(), 20..60)
    ) {
        check_file(&place_transition(&mut Draws(draws.iter())), MARKINGS_MAX);
    }
}
