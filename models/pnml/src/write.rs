//! The writer: a net as a PNML file.

use crate::net::{Arc, Common, Declaration, Declared, Label, NetKind, PnmlNet};
use crate::read::PNML;
use crate::term::{Comparison, Sort, Term};

/// Returns text as it stands in an XML file.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            // A reader makes blanks of these.
            '\t' | '\n' | '\r' => escaped += &format!("&#{};", it as u32),
            _ => escaped.push(it),
        }
    }
    escaped
}

impl PnmlNet {
    /// Returns the net as a PNML file: a net that is read from it is equal.
    pub fn to_pnml(&self) -> String {
        let mut writer =
            Writer { net: self, text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), depth: 0 };
        writer.element("pnml", &[("xmlns", PNML)], |writer| {
            writer.element("net", &[("id", &self.net.id), ("type", self.kind.uri())], |writer| {
                writer.common(&self.net);
                if let Some(label) = &self.declaration {
                    writer.label("declaration", label, |writer, ()| {
                        writer.element("declarations", &[], |writer| {
                            self.declarations.iter().for_each(|declaration| writer.declaration(declaration));
                        });
                    });
                }
                for (number, page) in self.pages.iter().enumerate().filter(|(number, page)| page.page == *number) {
                    writer.page(number, page);
                }
            });
        });
        writer.text
    }
}

struct Writer<'a> {
    net: &'a PnmlNet,
    text: String,
    depth: usize,
}

impl<'a> Writer<'a> {
    fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
        self.text += line;
        self.text.push('\n');
    }

    fn element(&mut self, name: &str, attributes: &[(&str, &str)], content: impl FnOnce(&mut Self)) {
        let attributes: String =
            attributes.iter().map(|(name, value)| format!(" {name}=\"{}\"", escape(value))).collect();
        let begin = self.text.len();
        self.line(&format!("<{name}{attributes}>"));
        let inner = self.text.len();
        self.depth += 1;
        content(self);
        self.depth -= 1;
        if self.text.len() == inner {
            self.text.truncate(begin);
            self.line(&format!("<{name}{attributes}/>"));
        } else {
            self.line(&format!("</{name}>"));
        }
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.element(name, attributes, |_| {});
    }

    fn kept(&mut self, text: Option<&str>, kept: &[String]) {
        kept.iter().for_each(|element| self.line(element));
        if let Some(text) = text {
            self.line(&format!("<text>{}</text>", escape(text)));
        }
    }

    fn common(&mut self, common: &Common) {
        if let Some(name) = &common.name {
            self.element("name", &[], |writer| writer.kept(name.text.as_deref(), &name.kept));
        }
        self.kept(None, &common.kept);
    }

    fn label<T>(&mut self, name: &str, label: &'a Label<T>, content: impl FnOnce(&mut Self, &'a T)) {
        self.element(name, &[], |writer| {
            writer.kept(label.text.as_deref(), &label.kept);
            writer.element("structure", &[], |writer| content(writer, &label.value));
        });
    }

    /// Writes a label with a term, or with a number.
    fn term_label(&mut self, names: [&str; 2], label: Option<&'a Label<Term>>) {
        match (label, self.net.kind) {
            (None, _) => {}
            (Some(label), NetKind::Symmetric) => self.label(names[1], label, Self::term),
            (Some(label), NetKind::PlaceTransition) => {
                let Term::NumberOf(count, _) = &label.value else { unreachable!("{label:?} is a number of tokens") };
                self.element(names[0], &[], |writer| writer.kept(Some(&count.to_string()), &label.kept));
            }
        }
    }

    fn page(&mut self, number: usize, page: &'a Common) {
        let net = self.net;
        self.element("page", &[("id", &page.id)], |writer| {
            writer.common(page);
            for place in net.places.iter().filter(|place| place.common.page == number) {
                writer.element("place", &[("id", &place.common.id)], |writer| {
                    writer.common(&place.common);
                    if let Some(label) = &place.sort {
                        writer.label("type", label, Self::sort);
                    }
                    writer.term_label(["initialMarking", "hlinitialMarking"], place.marking.as_ref());
                });
            }
            for transition in net.transitions.iter().filter(|transition| transition.common.page == number) {
                writer.element("transition", &[("id", &transition.common.id)], |writer| {
                    writer.common(&transition.common);
                    writer.term_label(["condition"; 2], transition.guard.as_ref());
                });
            }
            for reference in net.references.iter().filter(|reference| reference.common.page == number) {
                let name = if reference.is_place { "referencePlace" } else { "referenceTransition" };
                let attributes = [("id", reference.common.id.as_str()), ("ref", &reference.target)];
                writer.element(name, &attributes, |writer| writer.common(&reference.common));
            }
            for arc in net.arcs.iter().filter(|arc| arc.common.page == number) {
                let Arc { common, ends: [source, target], inscription, .. } = arc;
                writer.element("arc", &[("id", &common.id), ("source", source), ("target", target)], |writer| {
                    writer.common(common);
                    writer.term_label(["inscription", "hlinscription"], inscription.as_ref());
                });
            }
            for (child, page) in
                net.pages.iter().enumerate().filter(|(child, page)| page.page == number && *child != number)
            {
                writer.page(child, page);
            }
        });
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        let attributes = [("id", declaration.id.as_str()), ("name", &declaration.name)];
        match &declaration.declared {
            Declared::Sort(sort) => self.element("namedsort", &attributes, |writer| writer.sort(sort)),
            Declared::Variable(sort) => self.element("variabledecl", &attributes, |writer| writer.sort(sort)),
            Declared::Enumeration { is_cyclic, constants } => self.element("namedsort", &attributes, |writer| {
                let kind = if *is_cyclic { "cyclicenumeration" } else { "finiteenumeration" };
                writer.element(kind, &[], |writer| {
                    for constant in constants {
                        writer.empty("feconstant", &[("id", &constant.id), ("name", &constant.name)]);
                    }
                });
            }),
            Declared::Partition { of, elements, .. } => self.element("partition", &attributes, |writer| {
                writer.sort(of);
                for element in elements {
                    let attributes = [("id", element.constant.id.as_str()), ("name", &element.constant.name)];
                    writer.element("partitionelement", &attributes, |writer| {
                        element.members.iter().for_each(|member| writer.term(member));
                    });
                }
            }),
        }
    }

    fn sort(&mut self, sort: &'a Sort) {
        match sort {
            Sort::Dot => self.empty("dot", &[]),
            Sort::Bool => self.empty("bool", &[]),
            Sort::Range { start, end } => {
                self.empty("finiteintrange", &[("start", &start.to_string()), ("end", &end.to_string())]);
            }
            Sort::User(number) => self.empty("usersort", &[("declaration", &self.net.declarations[*number].id)]),
            Sort::Product(sorts) => {
                self.element("productsort", &[], |writer| sorts.iter().for_each(|sort| writer.sort(sort)));
            }
        }
    }

    fn operator(&mut self, name: &str, terms: impl IntoIterator<Item = &'a Term>) {
        self.element(name, &[], |writer| {
            for term in terms {
                writer.element("subterm", &[], |writer| writer.term(term));
            }
        });
    }

    fn term(&mut self, term: &'a Term) {
        let net = self.net;
        match term {
            Term::Dot => self.empty("dotconstant", &[]),
            Term::Bool(value) => self.empty("booleanconstant", &[("value", &value.to_string())]),
            Term::Integer { value, sort, .. } => {
                let value = [("value", value.to_string())];
                let value = value.each_ref().map(|(name, value)| (*name, value.as_str()));
                self.element("finiteintrangeconstant", &value, |writer| writer.sort(sort));
            }
            Term::Constant { declaration, colour } => {
                let constant = net.declarations[*declaration].declared.constant(*colour);
                self.empty("useroperator", &[("declaration", &constant.id)]);
            }
            Term::Variable(number) => self.empty("variable", &[("refvariable", &net.declarations[*number].id)]),
            Term::Successor { of, .. } => self.operator("successor", [&**of]),
            Term::Predecessor { of, .. } => self.operator("predecessor", [&**of]),
            Term::PartitionElementOf { of, partition } => {
                let attributes = [("refpartition", net.declarations[*partition].id.as_str())];
                self.element("partitionelementof", &attributes, |writer| {
                    writer.element("subterm", &[], |writer| writer.term(of));
                });
            }
            Term::Tuple(components) => self.operator("tuple", components.iter().map(|(component, _)| component)),
            Term::And(terms) => self.operator("and", terms),
            Term::Or(terms) => self.operator("or", terms),
            Term::Not(of) => self.operator("not", [&**of]),
            Term::Imply(sides) => self.operator("imply", &**sides),
            Term::Compare { by, sides, .. } => {
                let name = match by {
                    Comparison::Equal => "equality",
                    Comparison::Unequal => "inequality",
                    Comparison::Less => "lessthan",
                    Comparison::LessOrEqual => "lessthanorequal",
                    Comparison::Greater => "greaterthan",
                    Comparison::GreaterOrEqual => "greaterthanorequal",
                };
                self.operator(name, &**sides);
            }
            Term::All { sort, .. } => self.element("all", &[], |writer| writer.sort(sort)),
            Term::Empty(sort) => self.element("empty", &[], |writer| writer.sort(sort)),
            Term::NumberOf(count, of) => self.counted("numberof", *count, of),
            Term::ScalarProduct(count, of) => self.counted("scalarproduct", *count, of),
            Term::Add(terms) => self.operator("add", terms),
            Term::Subtract(terms) => self.operator("subtract", terms),
        }
    }

    fn counted(&mut self, name: &str, count: u64, of: &'a Term) {
        self.element(name, &[], |writer| {
            writer.element("subterm", &[], |writer| {
                let kind = if count == 0 { "natural" } else { "positive" };
                writer.element("numberconstant", &[("value", &count.to_string())], |writer| writer.empty(kind, &[]));
            });
            writer.element("subterm", &[], |writer| writer.term(of));
        });
    }
}
