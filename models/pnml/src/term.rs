//! Sorts and terms of symmetric nets, and their values.
//!
//! A colour is a number from 0 on. That of a product is a number of mixed radix, whose first digit is the first
//! component: so a product of one component has the colours of this component, as the contest's nets have it.

use std::collections::BTreeMap;

use crate::net::{Declaration, Declared, PnmlNet};

/// How many different tokens a term can have.
pub(crate) const COLOURS_MAX: u64 = 1 << 24;

/// A sort, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sort {
    Dot,
    Bool,
    Range {
        start: i64,
        end: i64,
    },
    Product(Vec<Sort>),
    /// A declared one, by the number of the declaration.
    User(usize),
}

impl Sort {
    /// Returns the colours.
    pub(crate) fn colours(&self, declarations: &[Declaration]) -> Type {
        match self {
            Self::Dot => Type::Dot,
            Self::Bool => Type::Bool,
            Self::Range { start, end } => Type::Range { start: *start, end: *end },
            Self::User(declaration) => declarations[*declaration].colours.clone(),
            Self::Product(sorts) => {
                let components = sorts.iter().map(|sort| sort.colours(declarations)).collect();
                Type::product(components).expect("the size of a product is checked when it is read")
            }
        }
    }
}

/// The colours of a sort. Two sorts are the same if these are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Dot,
    Bool,
    Range {
        start: i64,
        end: i64,
    },
    /// An enumeration or a partition, by the number of its declaration.
    Listed {
        declaration: usize,
        count: u64,
    },
    /// At least two components.
    Product {
        components: Vec<Type>,
        count: u64,
    },
}

impl Type {
    /// Returns how many colours there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Dot => 1,
            Self::Bool => 2,
            Self::Range { start, end } => start.abs_diff(*end) + 1,
            Self::Listed { count, .. } | Self::Product { count, .. } => *count,
        }
    }

    /// Returns the product; `None` if it has more than 2^64 - 1 colours.
    pub(crate) fn product(mut components: Vec<Self>) -> Option<Self> {
        if components.len() == 1 {
            return components.pop();
        }
        let count = components.iter().try_fold(1u64, |product, component| product.checked_mul(component.count()))?;
        Some(Self::Product { components, count })
    }

    /// Returns a colour in words.
    pub(crate) fn words(&self, net: &PnmlNet, colour: u64) -> String {
        match self {
            Self::Dot => "dot".to_owned(),
            Self::Bool => (colour == 1).to_string(),
            Self::Range { start, .. } => (i128::from(*start) + i128::from(colour)).to_string(),
            Self::Listed { declaration, .. } => {
                let constant = net.declarations[*declaration].declared.constant(colour);
                if constant.name.is_empty() { constant.id.clone() } else { constant.name.clone() }
            }
            Self::Product { components, .. } => {
                let mut words: Vec<String> = Vec::with_capacity(components.len());
                let mut rest = colour;
                for component in components.iter().rev() {
                    words.push(component.words(net, rest % component.count()));
                    rest /= component.count();
                }
                words.reverse();
                format!("({})", words.join(", "))
            }
        }
    }
}

/// An order of two colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(crate) fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

/// A term, whose sorts were checked when it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    Dot,
    Bool(bool),
    /// A number of a range.
    Integer {
        value: i64,
        sort: Sort,
        colour: u64,
    },
    /// A constant of an enumeration, or an element of a partition.
    Constant {
        declaration: usize,
        colour: u64,
    },
    Variable(usize),
    Successor {
        of: Box<Term>,
        count: u64,
    },
    Predecessor {
        of: Box<Term>,
        count: u64,
    },
    PartitionElementOf {
        of: Box<Term>,
        partition: usize,
    },
    /// Components, each with how many colours it has.
    Tuple(Vec<(Term, u64)>),
    And(Vec<Term>),
    Or(Vec<Term>),
    Not(Box<Term>),
    Imply(Box<[Term; 2]>),
    /// The starts are those of ranges, whose numbers are compared.
    Compare {
        by: Comparison,
        sides: Box<[Term; 2]>,
        starts: [i64; 2],
    },
    All {
        sort: Sort,
        count: u64,
    },
    Empty(Sort),
    NumberOf(u64, Box<Term>),
    ScalarProduct(u64, Box<Term>),
    Add(Vec<Term>),
    Subtract(Vec<Term>),
}

/// Tokens: colours, each with how often it is there, at least once.
pub(crate) type Tokens = BTreeMap<u64, u64>;

/// By declaration, the colour that a variable is bound to.
pub(crate) type Binding = [Option<u64>];

/// Why a term has no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTokens {
    /// More is subtracted than is there.
    Negative,
    TooManyTokens,
    TooManyColours,
}

impl Term {
    /// Returns the term of so many black tokens.
    pub(crate) fn dots(count: u64) -> Self {
        Self::NumberOf(count, Box::new(Self::Dot))
    }

    /// Calls `each` with every variable, by the number of its declaration.
    pub(crate) fn variables(&self, each: &mut dyn FnMut(usize)) {
        match self {
            Self::Variable(variable) => each(*variable),
            Self::Dot | Self::Bool(_) | Self::Integer { .. } | Self::Constant { .. } => {}
            Self::All { .. } | Self::Empty(_) => {}
            Self::Successor { of, .. } | Self::Predecessor { of, .. } | Self::PartitionElementOf { of, .. } => {
                of.variables(each);
            }
            Self::NumberOf(_, of) | Self::ScalarProduct(_, of) | Self::Not(of) => of.variables(each),
            Self::Tuple(components) => components.iter().for_each(|(component, _)| component.variables(each)),
            Self::And(terms) | Self::Or(terms) | Self::Add(terms) | Self::Subtract(terms) => {
                terms.iter().for_each(|term| term.variables(each));
            }
            Self::Imply(sides) | Self::Compare { sides, .. } => sides.iter().for_each(|side| side.variables(each)),
        }
    }

    /// Returns the colour; `None` if it depends on a variable that is not bound, or if the term has several tokens.
    pub(crate) fn colour(&self, net: &PnmlNet, binding: &Binding) -> Option<u64> {
        Some(match self {
            Self::Dot => 0,
            Self::Integer { colour, .. } | Self::Constant { colour, .. } => *colour,
            Self::Variable(variable) => binding[*variable]?,
            Self::Successor { of, count } => (of.colour(net, binding)? + 1) % count,
            Self::Predecessor { of, count } => (of.colour(net, binding)? + count - 1) % count,
            Self::PartitionElementOf { of, partition } => match &net.declarations[*partition].declared {
                Declared::Partition { by_colour, .. } => by_colour[of.colour(net, binding)? as usize],
                other => unreachable!("{other:?} is no partition"),
            },
            Self::Tuple(components) => {
                let mut colour = 0;
                for (component, count) in components {
                    colour = colour * count + component.colour(net, binding)?;
                }
                colour
            }
            Self::Bool(_) | Self::And(_) | Self::Or(_) | Self::Not(_) | Self::Imply(_) | Self::Compare { .. } => {
                u64::from(self.holds(net, binding)?)
            }
            Self::All { .. } | Self::Empty(_) | Self::NumberOf(..) | Self::ScalarProduct(..) => return None,
            Self::Add(_) | Self::Subtract(_) => return None,
        })
    }

    /// Returns whether a condition holds; `None` if this depends on a variable that is not bound.
    pub(crate) fn holds(&self, net: &PnmlNet, binding: &Binding) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::And(terms) => decide(terms, false, net, binding),
            Self::Or(terms) => decide(terms, true, net, binding),
            Self::Not(of) => of.holds(net, binding).map(|holds| !holds),
            Self::Imply(sides) => match (sides[0].holds(net, binding), sides[1].holds(net, binding)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                (Some(true), Some(false)) => Some(false),
                _ => None,
            },
            Self::Compare { by, sides, starts } => {
                let [left, right] = [0, 1].map(|side| {
                    let colour = sides[side].colour(net, binding)?;
                    Some(i128::from(colour) + i128::from(starts[side]))
                });
                Some(by.holds(left?, right?))
            }
            _ => self.colour(net, binding).map(|colour| colour == 1),
        }
    }

    /// Returns the tokens, where all variables are bound.
    pub(crate) fn tokens(&self, net: &PnmlNet, binding: &Binding) -> Result<Tokens, NoTokens> {
        let mut sum = Tokens::new();
        match self {
            Self::Empty(_) => {}
            Self::All { count, .. } if *count > COLOURS_MAX => return Err(NoTokens::TooManyColours),
            Self::All { count, .. } => sum.extend((0..*count).map(|colour| (colour, 1))),
            Self::NumberOf(number, of) | Self::ScalarProduct(number, of) => {
                for (colour, count) in of.tokens(net, binding)? {
                    let count = count.checked_mul(*number).ok_or(NoTokens::TooManyTokens)?;
                    if count > 0 {
                        sum.insert(colour, count);
                    }
                }
            }
            Self::Add(terms) => {
                for term in terms {
                    add(&mut sum, term.tokens(net, binding)?)?;
                }
            }
            Self::Subtract(terms) => {
                sum = terms[0].tokens(net, binding)?;
                for term in &terms[1..] {
                    for (colour, count) in term.tokens(net, binding)? {
                        let left = sum.get_mut(&colour).ok_or(NoTokens::Negative)?;
                        *left = left.checked_sub(count).ok_or(NoTokens::Negative)?;
                        if *left == 0 {
                            sum.remove(&colour);
                        }
                    }
                }
            }
            Self::Tuple(components) => {
                sum.insert(0, 1);
                for (component, radix) in components {
                    let of = component.tokens(net, binding)?;
                    if (sum.len() as u64).saturating_mul(of.len() as u64) > COLOURS_MAX {
                        return Err(NoTokens::TooManyColours);
                    }
                    let mut product = Tokens::new();
                    for (&before, &times) in &sum {
                        for (&colour, &count) in &of {
                            let count = times.checked_mul(count).ok_or(NoTokens::TooManyTokens)?;
                            product.insert(before * radix + colour, count);
                        }
                    }
                    sum = product;
                }
            }
            _ => {
                let colour = self.colour(net, binding).expect("all variables are bound");
                sum.insert(colour, 1);
            }
        }
        Ok(sum)
    }
}

/// Returns whether all terms hold, or, where `decisive` is true, whether one of them does.
fn decide(terms: &[Term], decisive: bool, net: &PnmlNet, binding: &Binding) -> Option<bool> {
    let mut is_known = true;
    for term in terms {
        match term.holds(net, binding) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(!decisive)
}

/// Adds tokens to others.
pub(crate) fn add(sum: &mut Tokens, tokens: Tokens) -> Result<(), NoTokens> {
    for (colour, count) in tokens {
        let now = sum.entry(colour).or_insert(0);
        *now = now.checked_add(count).ok_or(NoTokens::TooManyTokens)?;
    }
    Ok(())
}
