//! A naive explorer: it reads XML itself, tries all values of all variables, and knows no unfolding.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use roxmltree::{Document, Node};

/// A colour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Dot,
    Bool(bool),
    /// A number of a range.
    Integer(i64, [i64; 2]),
    /// A constant of an enumeration or a partition: its place, how many there are, and its name.
    Constant(usize, usize, String),
    Tuple(Vec<Value>),
}

impl Value {
    fn words(&self) -> String {
        match self {
            Self::Dot => "dot".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(value, _) => value.to_string(),
            Self::Constant(_, _, name) => name.clone(),
            Self::Tuple(values) => format!("({})", values.iter().map(Self::words).collect::<Vec<_>>().join(", ")),
        }
    }
}

type Bag = BTreeMap<Value, u64>;
type Binding = BTreeMap<String, Value>;
/// By place, in the order of the file.
type Marking = Vec<Bag>;

/// A state space in words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Space {
    /// The markings.
    pub(crate) markings: BTreeSet<String>,
    /// The arcs, in order: a marking, what fires, a marking.
    pub(crate) arcs: Vec<[String; 3]>,
    /// How many markings are dead.
    pub(crate) dead: usize,
}

/// What the naive explorer finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Space(Space),
    /// There are more markings than asked for.
    TooMany,
    /// An initial marking subtracts what is not there.
    Negative,
}

struct Net<'a> {
    by_id: BTreeMap<&'a str, Node<'a, 'a>>,
    is_symmetric: bool,
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn children<'a>(node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
    node.children().filter(Node::is_element).collect()
}

fn attribute<'a>(node: Node<'a, 'a>, name: &str) -> &'a str {
    node.attribute(name).expect("it is there")
}

fn terms<'a>(node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
    children(node).into_iter().map(|subterm| children(subterm)[0]).collect()
}

fn text(node: Node<'_, '_>, default: u64) -> u64 {
    let text = node.children().find(|child| child.tag_name().name() == "text");
    text.map_or(default, |text| text.text().unwrap().trim().parse().unwrap())
}

fn structure<'a>(label: Node<'a, 'a>) -> Node<'a, 'a> {
    children(child(label, "structure").expect("it has one"))[0]
}

fn name(node: Node<'_, '_>) -> String {
    child_text(node).unwrap_or_else(|| node.attribute("id").unwrap().to_owned())
}

fn child_text(node: Node<'_, '_>) -> Option<String> {
    let name = node.children().find(|child| child.tag_name().name() == "name")?;
    let text = name.children().find(|child| child.tag_name().name() == "text")?;
    Some(text.text()?.trim().to_owned())
}

impl<'a> Net<'a> {
    /// Returns all values of a sort.
    fn values(&self, sort: Node<'a, 'a>) -> Vec<Value> {
        let constants = |nodes: Vec<Node<'_, '_>>| {
            let count = nodes.len();
            let constant = |(place, node): (usize, Node<'_, '_>)| {
                Value::Constant(place, count, node.attribute("name").unwrap().to_owned())
            };
            nodes.into_iter().enumerate().map(constant).collect()
        };
        match sort.tag_name().name() {
            "dot" => vec![Value::Dot],
            "bool" => vec![Value::Bool(false), Value::Bool(true)],
            "finiteintrange" => {
                let range = ["start", "end"].map(|bound| attribute(sort, bound).parse::<i64>().unwrap());
                (range[0]..=range[1]).map(|value| Value::Integer(value, range)).collect()
            }
            "cyclicenumeration" | "finiteenumeration" => constants(children(sort)),
            "namedsort" => self.values(children(sort)[0]),
            "partition" => constants(children(sort)[1..].to_vec()),
            "usersort" => self.values(self.by_id[attribute(sort, "declaration")]),
            "productsort" => {
                let components: Vec<Vec<Value>> = children(sort).into_iter().map(|sort| self.values(sort)).collect();
                let mut all = vec![Vec::new()];
                for component in components {
                    let longer = |before: &Vec<Value>| {
                        let longer = |value: &Value| [before.as_slice(), std::slice::from_ref(value)].concat();
                        component.iter().map(longer).collect::<Vec<_>>()
                    };
                    all = all.iter().flat_map(longer).collect();
                }
                all.into_iter().map(tuple).collect()
            }
            other => panic!("{other} is no sort"),
        }
    }

    /// Returns the tokens of a term; `None` if more is subtracted than is there.
    fn bag(&self, term: Node<'a, 'a>, binding: &Binding) -> Option<Bag> {
        let times = |bag: Bag, times: u64| bag.into_iter().map(|(value, count)| (value, times * count)).collect();
        Some(match term.tag_name().name() {
            "all" => self.values(children(term)[0]).into_iter().map(|value| (value, 1)).collect(),
            "empty" => Bag::new(),
            "numberof" | "scalarproduct" => {
                let parts = terms(term);
                let count: u64 = attribute(parts[0], "value").parse().unwrap();
                let bag = self.bag(parts[1], binding)?;
                if count == 0 { Bag::new() } else { times(bag, count) }
            }
            "add" => {
                let mut sum = Bag::new();
                for part in terms(term) {
                    for (value, count) in self.bag(part, binding)? {
                        *sum.entry(value).or_default() += count;
                    }
                }
                sum
            }
            "subtract" => {
                let parts = terms(term);
                let mut left = self.bag(parts[0], binding)?;
                for part in &parts[1..] {
                    for (value, count) in self.bag(*part, binding)? {
                        let now = left.get(&value).copied().unwrap_or(0).checked_sub(count)?;
                        left.insert(value, now);
                    }
                }
                left.retain(|_, count| *count > 0);
                left
            }
            "tuple" => {
                let mut all = vec![(Vec::new(), 1)];
                for part in terms(term) {
                    let component = self.bag(part, binding)?;
                    let mut longer = Vec::new();
                    for (before, times) in &all {
                        for (value, count) in &component {
                            longer.push(([before.as_slice(), std::slice::from_ref(value)].concat(), times * count));
                        }
                    }
                    all = longer;
                }
                all.into_iter().map(|(values, count)| (tuple(values), count)).collect()
            }
            _ => Bag::from([(self.value(term, binding), 1)]),
        })
    }

    fn value(&self, term: Node<'a, 'a>, binding: &Binding) -> Value {
        let part = |at: usize| self.value(terms(term)[at], binding);
        let holds = |at: usize| part(at) == Value::Bool(true);
        let step = |value, by: i64| match value {
            Value::Integer(value, [start, end]) => {
                Value::Integer(start + (value - start + by).rem_euclid(end - start + 1), [start, end])
            }
            Value::Constant(place, count, _) => {
                // Only the element that declares it knows what it is called.
                let next = (place as i64 + by).rem_euclid(count as i64) as usize;
                let sort = self.sort_of(terms(term)[0]);
                self.values(sort).swap_remove(next)
            }
            other => panic!("{other:?} has no successor"),
        };
        match term.tag_name().name() {
            "dotconstant" => Value::Dot,
            "booleanconstant" => Value::Bool(attribute(term, "value") == "true"),
            "variable" => binding[attribute(term, "refvariable")].clone(),
            "useroperator" => {
                let constant = self.by_id[attribute(term, "declaration")];
                let sort = constant.parent().expect("it is in a sort");
                let all = children(sort).into_iter().filter(|node| node.tag_name() == constant.tag_name());
                let place = all.clone().position(|node| node == constant).expect("it is there");
                Value::Constant(place, all.count(), attribute(constant, "name").to_owned())
            }
            "finiteintrangeconstant" => {
                let range = ["start", "end"].map(|it| attribute(children(term)[0], it).parse::<i64>().unwrap());
                Value::Integer(attribute(term, "value").parse().unwrap(), range)
            }
            "successor" => step(part(0), 1),
            "predecessor" => step(part(0), -1),
            "partitionelementof" => {
                let partition = self.by_id[attribute(term, "refpartition")];
                let value = part(0);
                let has_it = |element: &Node<'a, 'a>| {
                    children(*element).into_iter().any(|member| self.value(member, binding) == value)
                };
                let place = children(partition)[1..].iter().position(has_it).expect("it has all");
                self.values(partition).swap_remove(place)
            }
            "tuple" => tuple(terms(term).into_iter().map(|part| self.value(part, binding)).collect()),
            "and" => Value::Bool((0..terms(term).len()).all(holds)),
            "or" => Value::Bool((0..terms(term).len()).any(holds)),
            "not" => Value::Bool(!holds(0)),
            "imply" => Value::Bool(!holds(0) || holds(1)),
            "equality" => Value::Bool(part(0) == part(1)),
            "inequality" => Value::Bool(part(0) != part(1)),
            "lessthan" | "ltp" => Value::Bool(part(0) < part(1)),
            "lessthanorequal" => Value::Bool(part(0) <= part(1)),
            "greaterthan" | "gtp" => Value::Bool(part(0) > part(1)),
            "greaterthanorequal" => Value::Bool(part(0) >= part(1)),
            other => panic!("{other} is no value"),
        }
    }

    /// Returns the sort of a term that has a successor.
    fn sort_of(&self, term: Node<'a, 'a>) -> Node<'a, 'a> {
        match term.tag_name().name() {
            "variable" => children(self.by_id[attribute(term, "refvariable")])[0],
            "useroperator" => {
                let sort = self.by_id[attribute(term, "declaration")].parent().expect("it is in a sort");
                if sort.tag_name().name() == "partition" { sort } else { sort.parent().expect("it is named") }
            }
            "partitionelementof" => self.by_id[attribute(term, "refpartition")],
            _ => self.sort_of(terms(term)[0]),
        }
    }

    /// Returns the place or the transition that an identifier stands for.
    fn node(&self, id: &str) -> Node<'a, 'a> {
        let node = self.by_id[id];
        node.attribute("ref").map_or(node, |target| self.node(target))
    }

    fn tokens(&self, label: Option<Node<'a, 'a>>, default: u64, binding: &Binding) -> Option<Bag> {
        match label {
            Some(label) if self.is_symmetric => self.bag(structure(label), binding),
            label => {
                let count = label.map_or(default, |label| text(label, default));
                Some(if count == 0 { Bag::new() } else { Bag::from([(Value::Dot, count)]) })
            }
        }
    }
}

fn tuple(mut values: Vec<Value>) -> Value {
    if values.len() == 1 { values.swap_remove(0) } else { Value::Tuple(values) }
}

/// Returns the state space, if it has at most so many markings.
pub(crate) fn explore(file: &str, markings_max: usize) -> Found {
    let document = Document::parse(file).expect("it is well-formed");
    // The document lives as long as the net.
    let all: Vec<Node<'_, '_>> = document.descendants().filter(Node::is_element).collect();
    let of = |name: &str| all.iter().copied().filter(|node| node.tag_name().name() == name).collect::<Vec<_>>();
    let by_id = all.iter().filter_map(|node| Some((node.attribute("id")?, *node))).collect();
    let net = Net { by_id, is_symmetric: of("net")[0].attribute("type").unwrap().ends_with("symmetricnet") };
    let (places, transitions, arcs) = (of("place"), of("transition"), of("arc"));
    let place_at = |node| places.iter().position(|place| *place == node).expect("it is a place");

    let mut initial = Marking::new();
    for place in &places {
        let label = child(*place, if net.is_symmetric { "hlinitialMarking" } else { "initialMarking" });
        match net.tokens(label, 0, &Binding::new()) {
            Some(tokens) => initial.push(tokens),
            None => return Found::Negative,
        }
    }
    let words = |marking: &Marking| {
        let place = |(place, bag): (&Node<'_, '_>, &Bag)| {
            let tokens = bag.iter().map(|(value, count)| match count {
                _ if !net.is_symmetric => count.to_string(),
                1 => value.words(),
                _ => format!("{count} x {}", value.words()),
            });
            (!bag.is_empty()).then(|| format!("{}: {}", name(*place), tokens.collect::<Vec<_>>().join(", ")))
        };
        places.iter().zip(marking).filter_map(place).collect::<Vec<_>>().join("; ")
    };
    let mut known = BTreeSet::from([initial.clone()]);
    let mut open = VecDeque::from([initial]);
    let mut space = Space { markings: BTreeSet::new(), arcs: Vec::new(), dead: 0 };
    while let Some(marking) = open.pop_front() {
        if known.len() > markings_max {
            return Found::TooMany;
        }
        let from = words(&marking);
        space.markings.insert(from.clone());
        let arcs_before = space.arcs.len();
        for transition in &transitions {
            let is_of = |arc: &&Node<'_, '_>, end| net.node(attribute(**arc, end)) == *transition;
            let mine: Vec<_> =
                arcs.iter().filter(|arc| is_of(arc, "source") || is_of(arc, "target")).copied().collect();
            let guard = child(*transition, "condition").map(structure);
            let terms = mine.iter().filter_map(|arc| child(*arc, "hlinscription")).map(structure).chain(guard);
            let variables = terms.flat_map(|term| term.descendants()).filter(|it| it.tag_name().name() == "variable");
            let used: BTreeSet<&str> = variables.map(|variable| attribute(variable, "refvariable")).collect();
            // In the order of the declarations.
            let used: Vec<Node<'_, '_>> =
                of("variabledecl").into_iter().filter(|it| used.contains(attribute(*it, "id"))).collect();
            let mut bindings = vec![Binding::new()];
            for variable in &used {
                let values = net.values(children(*variable)[0]);
                let with = |binding: &Binding, value: &Value| {
                    let mut binding = binding.clone();
                    binding.insert(attribute(*variable, "id").to_owned(), value.clone());
                    binding
                };
                bindings = bindings.iter().flat_map(|it| values.iter().map(move |value| with(it, value))).collect();
            }
            'bindings: for binding in bindings {
                if guard.is_some_and(|guard| net.value(guard, &binding) != Value::Bool(true)) {
                    continue;
                }
                let mut after = marking.clone();
                // First all that is taken, then all that is put.
                for is_input in [true, false] {
                    for arc in &mine {
                        let [place, other] = if is_input { ["source", "target"] } else { ["target", "source"] };
                        if net.node(attribute(*arc, other)) != *transition {
                            continue;
                        }
                        let place = place_at(net.node(attribute(*arc, place)));
                        let label = child(*arc, if net.is_symmetric { "hlinscription" } else { "inscription" });
                        let Some(tokens) = net.tokens(label, 1, &binding) else { continue 'bindings };
                        for (value, count) in tokens {
                            let now = after[place].get(&value).copied().unwrap_or(0);
                            let now = if is_input { now.checked_sub(count) } else { Some(now + count) };
                            let Some(now) = now else { continue 'bindings };
                            after[place].insert(value, now);
                        }
                        after[place].retain(|_, count| *count > 0);
                    }
                }
                let binding: Vec<String> = used
                    .iter()
                    .map(|it| format!("{} = {}", attribute(*it, "name"), binding[attribute(*it, "id")].words()))
                    .collect();
                let fired = match &binding[..] {
                    [] => name(*transition),
                    _ => format!("{}({})", name(*transition), binding.join(", ")),
                };
                space.arcs.push([from.clone(), fired, words(&after)]);
                if known.insert(after.clone()) {
                    open.push_back(after);
                }
            }
        }
        space.dead += usize::from(space.arcs.len() == arcs_before);
    }
    space.arcs.sort();
    Found::Space(space)
}
