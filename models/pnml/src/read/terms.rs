//! The reader of terms, which checks their sorts.

use roxmltree::Node;

use super::xml::{
    attribute, bad_reference, bad_value, elements, line, missing, name, nothing_in, number, one, only, subterms, two,
    unsupported,
};
use super::{Reader, Result};
use crate::error::ReadError;
use crate::net::{Declared, PnmlNet};
use crate::term::{Comparison, Term, Type};

/// A term with its sort, and whether it has one token or a multiset of tokens.
pub(super) struct Typed {
    pub(super) term: Term,
    pub(super) colours: Type,
    is_single: bool,
}

impl<'a, 'i> Reader<'a, 'i> {
    /// Returns a term that is one colour, or a condition.
    pub(super) fn single(&self, node: Node<'a, 'i>) -> Result<Typed> {
        let typed = self.term(node)?;
        if typed.is_single {
            return Ok(typed);
        }
        let (found, expected) = ("a multiset".to_owned(), "one colour".to_owned());
        Err(ReadError::Sort { line: line(node), element: name(node).to_owned(), found, expected })
    }

    /// Returns a condition.
    pub(super) fn condition(&self, node: Node<'a, 'i>) -> Result<Term> {
        let typed = self.single(node)?;
        check_sort(node, &self.net, &typed.colours, &Type::Bool)?;
        Ok(typed.term)
    }

    /// Returns several terms of one sort.
    pub(super) fn equal_sorts(&self, nodes: &[Node<'a, 'i>]) -> Result<(Vec<Term>, Type)> {
        let first = self.term(nodes[0])?;
        let (mut terms, colours) = (vec![first.term], first.colours);
        for node in &nodes[1..] {
            let typed = self.term(*node)?;
            check_sort(*node, &self.net, &typed.colours, &colours)?;
            terms.push(typed.term);
        }
        Ok((terms, colours))
    }

    pub(super) fn term(&self, node: Node<'a, 'i>) -> Result<Typed> {
        let single = |term, colours| Ok(Typed { term, colours, is_single: true });
        let multiset = |term, colours| Ok(Typed { term, colours, is_single: false });
        match name(node) {
            "dotconstant" => nothing_in(node, &[]).and_then(|()| single(Term::Dot, Type::Dot)),
            "booleanconstant" => {
                nothing_in(node, &["value"])?;
                let value = number(node, attribute(node, "value")?, "true or false")?;
                single(Term::Bool(value), Type::Bool)
            }
            "variable" => {
                nothing_in(node, &["refvariable"])?;
                let id = attribute(node, "refvariable")?;
                let declaration = self.declarations.get(&format!("variable {id}"));
                let &declaration = declaration.ok_or_else(|| bad_reference(node, id, "no declared variable"))?;
                single(Term::Variable(declaration), self.net.declarations[declaration].colours.clone())
            }
            "useroperator" => {
                nothing_in(node, &["declaration"])?;
                let id = attribute(node, "declaration")?;
                let constant = self.constants.get(id);
                let &(declaration, colour) = constant.ok_or_else(|| bad_reference(node, id, "no declared constant"))?;
                single(Term::Constant { declaration, colour }, self.net.declarations[declaration].colours.clone())
            }
            "finiteintrangeconstant" => {
                let value: i64 = number(node, attribute(node, "value")?, "an integer of 64 bits")?;
                let (sort, colours) = self.sort(only(node, &["value"], "finiteintrange")?)?;
                match colours {
                    Type::Range { start, end } if (start..=end).contains(&value) => {
                        single(Term::Integer { value, sort, colour: start.abs_diff(value) }, colours)
                    }
                    _ => Err(bad_value(node, &value.to_string(), "a number of the range that it names")),
                }
            }
            operator @ ("successor" | "predecessor") => {
                let part = one(node)?;
                let typed = self.single(part)?;
                if matches!(typed.colours, Type::Dot | Type::Bool | Type::Product { .. }) {
                    return Err(wrong_sort(part, &self.net, &typed.colours, "an enumeration or a range"));
                }
                let (of, count) = (Box::new(typed.term), typed.colours.count());
                let is_successor = operator == "successor";
                single(
                    if is_successor { Term::Successor { of, count } } else { Term::Predecessor { of, count } },
                    typed.colours,
                )
            }
            "partitionelementof" => {
                let [part] = elements(node, &["refpartition"])?[..] else { return Err(missing(node, "subterm")) };
                let id = attribute(node, "refpartition")?;
                let partition = self.declarations.get(&format!("sort {id}"));
                let &partition = partition.ok_or_else(|| bad_reference(node, id, "no declared partition"))?;
                let Declared::Partition { of, .. } = &self.net.declarations[partition].declared else {
                    return Err(bad_reference(node, id, "no partition"));
                };
                let sort = of.colours(&self.net.declarations);
                let part = if name(part) == "subterm" { only(part, &[], "term")? } else { part };
                let typed = self.single(part)?;
                check_sort(part, &self.net, &typed.colours, &sort)?;
                let term = Term::PartitionElementOf { of: Box::new(typed.term), partition };
                single(term, self.net.declarations[partition].colours.clone())
            }
            "tuple" => {
                let (mut components, mut types, mut is_single) = (Vec::new(), Vec::new(), true);
                for component in subterms(node)? {
                    let typed = self.term(component)?;
                    is_single &= typed.is_single;
                    components.push((typed.term, typed.colours.count()));
                    types.push(typed.colours);
                }
                let colours = Type::product(types);
                let colours = colours.ok_or_else(|| bad_value(node, "the tuple", "one of at most 2^64 - 1 colours"))?;
                Ok(Typed { term: Term::Tuple(components), colours, is_single })
            }
            operator @ ("and" | "or") => {
                let terms = subterms(node)?.into_iter().map(|part| self.condition(part)).collect::<Result<_>>()?;
                single(if operator == "and" { Term::And(terms) } else { Term::Or(terms) }, Type::Bool)
            }
            "not" => single(Term::Not(Box::new(self.condition(one(node)?)?)), Type::Bool),
            "imply" => {
                let [left, right] = two(node)?;
                single(Term::Imply(Box::new([self.condition(left)?, self.condition(right)?])), Type::Bool)
            }
            "equality" => self.comparison(node, Comparison::Equal),
            "inequality" => self.comparison(node, Comparison::Unequal),
            "lessthan" | "ltp" => self.comparison(node, Comparison::Less),
            "lessthanorequal" => self.comparison(node, Comparison::LessOrEqual),
            "greaterthan" | "gtp" => self.comparison(node, Comparison::Greater),
            "greaterthanorequal" => self.comparison(node, Comparison::GreaterOrEqual),
            operator @ ("all" | "empty") => {
                let (sort, colours) = self.sort(only(node, &[], "sort")?)?;
                let count = colours.count();
                multiset(if operator == "all" { Term::All { sort, count } } else { Term::Empty(sort) }, colours)
            }
            operator @ ("numberof" | "scalarproduct") => {
                let [count, of] = two(node)?;
                if name(count) != "numberconstant" {
                    return Err(unsupported(count, "write the number of tokens as `numberconstant`"));
                }
                let kind = only(count, &["value"], "natural or positive")?;
                nothing_in(kind, &[])?;
                if !["natural", "positive"].contains(&name(kind)) {
                    return Err(unsupported(kind, "a number of tokens is `natural` or `positive`"));
                }
                let count = number(count, attribute(count, "value")?, "a number of tokens below 2^64")?;
                let typed = self.term(of)?;
                let of = Box::new(typed.term);
                let is_number = operator == "numberof";
                multiset(
                    if is_number { Term::NumberOf(count, of) } else { Term::ScalarProduct(count, of) },
                    typed.colours,
                )
            }
            operator @ ("add" | "subtract") => {
                let (terms, colours) = self.equal_sorts(&subterms(node)?)?;
                multiset(if operator == "add" { Term::Add(terms) } else { Term::Subtract(terms) }, colours)
            }
            _ => Err(unsupported(node, "use terms of symmetric nets (ISO/IEC 15909-2)")),
        }
    }

    pub(super) fn comparison(&self, node: Node<'a, 'i>, by: Comparison) -> Result<Typed> {
        let nodes = two(node)?;
        let [left, right] = [self.single(nodes[0])?, self.single(nodes[1])?];
        let start = |colours: &Type| match colours {
            Type::Range { start, .. } => Some(*start),
            _ => None,
        };
        let starts = match (start(&left.colours), start(&right.colours)) {
            (Some(left), Some(right)) => [left, right],
            _ => {
                check_sort(nodes[1], &self.net, &right.colours, &left.colours)?;
                [0, 0]
            }
        };
        let is_ordered = matches!(left.colours, Type::Range { .. } | Type::Listed { .. });
        if !is_ordered && !matches!(by, Comparison::Equal | Comparison::Unequal) {
            return Err(wrong_sort(nodes[0], &self.net, &left.colours, "an enumeration, a range or a partition"));
        }
        let term = Term::Compare { by, sides: Box::new([left.term, right.term]), starts };
        Ok(Typed { term, colours: Type::Bool, is_single: true })
    }
}

pub(super) fn leaves(colours: &Type) -> usize {
    match colours {
        Type::Product { components, .. } => components.iter().map(leaves).sum(),
        _ => 1,
    }
}

pub(super) fn check_sort(node: Node<'_, '_>, net: &PnmlNet, found: &Type, expected: &Type) -> Result<()> {
    if found == expected { Ok(()) } else { Err(wrong_sort(node, net, found, &described(net, expected))) }
}

pub(super) fn wrong_sort(node: Node<'_, '_>, net: &PnmlNet, found: &Type, expected: &str) -> ReadError {
    let (element, found, expected) = (name(node).to_owned(), described(net, found), expected.to_owned());
    ReadError::Sort { line: line(node), element, found, expected }
}

/// Returns a sort in words.
pub(super) fn described(net: &PnmlNet, colours: &Type) -> String {
    match colours {
        Type::Dot => "of sort dot".to_owned(),
        Type::Bool => "a condition".to_owned(),
        Type::Range { start, end } => format!("of the range {start} to {end}"),
        Type::Listed { declaration, .. } => format!("of sort `{}`", net.declarations[*declaration].id),
        Type::Product { components, .. } => {
            let components: Vec<String> = components.iter().map(|component| described(net, component)).collect();
            format!("a tuple ({})", components.join(", "))
        }
    }
}
