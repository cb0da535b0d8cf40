//! The page with the signatures that the writer of a system needs, as the source has them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, ensure};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Fields, ImplItem, Item, Lit, Meta, TraitItem, Type, Visibility};

use super::reference::NOTICE;

/// What the page has, in its order: a file, and types and traits of it.
const SOURCES: [(&str, &[&str]); 15] = [
    ("systems/system/src/system.rs", &["System"]),
    ("systems/system/src/domain.rs", &["Domain", "Probabilities", "Lengths"]),
    ("systems/system/src/outage.rs", &["Outages", "Outage"]),
    ("sim-core/random/src/stream.rs", &["Random"]),
    ("sim-core/src/simulation.rs", &["Simulation", "Added"]),
    ("sim-core/src/network/link.rs", &["Link"]),
    ("sim-core/src/fault.rs", &["Faults", "ScheduledFault"]),
    ("sim-core/src/message.rs", &["Message", "Delivery"]),
    ("sim-core/src/context.rs", &["Context"]),
    ("sim-core/src/channel.rs", &["Channel"]),
    ("sim-core/src/stream.rs", &["Stream"]),
    ("sim-core/src/durable.rs", &["Durable"]),
    ("sim-core/src/expectation.rs", &["Returned"]),
    ("systems/system/src/observer.rs", &["Observer"]),
    ("oracle/src/recorder.rs", &["Recorder"]),
];

/// Returns the page.
pub(super) fn page(root: &Path) -> anyhow::Result<String> {
    let mut page = format!("# Signatures\n\n{NOTICE}\n\n");
    page.push_str(
        "What a system is written with: [`System`](#system) is what it implements, `sample` draws with \
         [domains](#domain), `configure` makes a [`Simulation`](#simulation), components have a [`Context`](#context) and \
         [channels](#channel), and an [`Observer`](#observer) records their history. `cargo doc --open -p simutant-sim-core \
         -p simutant-system` shows all of it, with examples. [Your own system](../guide/your-system.md) puts it together.\n",
    );
    for (file, names) in SOURCES {
        let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        let syntax: syn::File = syn::parse_str(&text).with_context(|| format!("cannot parse {file}"))?;
        for name in names {
            let section = section(name, &text, &syntax.items);
            ensure!(!section.is_empty(), "{file} has no public `{name}`");
            page.push_str(&section);
        }
    }
    Ok(page)
}

/// Returns the section of a type or trait; nothing if there is no public one of this name.
fn section(name: &str, text: &str, items: &[Item]) -> String {
    let mut section = String::new();
    for item in items {
        match item {
            Item::Struct(item) if item.ident == name => {
                section.push_str(&heading(name, &item.attrs));
                if let Fields::Named(fields) = &item.fields {
                    let public: Vec<_> = fields.named.iter().filter(|field| is_public(&field.vis)).collect();
                    if !public.is_empty() {
                        let head = &text[item.struct_token.span().byte_range().start..fields.span().byte_range().start];
                        let lines = public.iter().map(|field| {
                            let from = field.ident.span().byte_range().start;
                            (
                                summary(&field.attrs),
                                format!("{},", one_line(&text[from..field.ty.span().byte_range().end])),
                            )
                        });
                        section.push_str(&block(&one_line(head), lines));
                    }
                }
            }
            Item::Trait(item) if item.ident == name => {
                let head =
                    &text[item.trait_token.span().byte_range().start..item.brace_token.span.open().byte_range().start];
                let lines = item.items.iter().filter_map(|part| {
                    let (attributes, end) = match part {
                        TraitItem::Fn(part) => (&part.attrs, part.sig.span().byte_range().end),
                        TraitItem::Const(part) => (&part.attrs, part.span().byte_range().end),
                        TraitItem::Type(part) => (&part.attrs, part.span().byte_range().end),
                        _ => return None,
                    };
                    let code =
                        text[after(attributes, part.span().byte_range().start)..end].trim().trim_end_matches(';');
                    Some((summary(attributes), format!("{};", one_line(code))))
                });
                section.push_str(&heading(name, &item.attrs));
                section.push_str(&block(&one_line(head), lines));
            }
            Item::Impl(item) if item.trait_.is_none() && is_named(&item.self_ty, name) => {
                let functions = item.items.iter().filter_map(|part| match part {
                    ImplItem::Fn(part) if is_public(&part.vis) => {
                        let from = part.vis.span().byte_range().end;
                        let code = one_line(&text[from..part.sig.span().byte_range().end]);
                        Some((summary(&part.attrs), format!("{code};")))
                    }
                    _ => None,
                });
                let functions: Vec<_> = functions.collect();
                if !functions.is_empty() {
                    let head = &text
                        [item.impl_token.span().byte_range().start..item.brace_token.span.open().byte_range().start];
                    section.push_str(&block(&one_line(head), functions.into_iter()));
                }
            }
            _ => {}
        }
    }
    section
}

fn heading(name: &str, attributes: &[Attribute]) -> String {
    format!("\n## {name}\n\n{}\n", summary(attributes))
}

/// Returns code that begins with `head`, with these items and what is said of each.
fn block(head: &str, items: impl Iterator<Item = (String, String)>) -> String {
    let mut block = format!("\n```rust,ignore\n{head} {{\n");
    for (number, (summary, code)) in items.enumerate() {
        let between = if number > 0 { "\n" } else { "" };
        write!(block, "{between}    /// {summary}\n    {code}\n").expect("a string takes all");
    }
    block.push_str("}\n```\n");
    block
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_named(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == name))
}

/// Returns where code begins whose attributes may come first.
fn after(attributes: &[Attribute], start: usize) -> usize {
    attributes.iter().map(|attribute| attribute.span().byte_range().end).max().unwrap_or(start)
}

fn one_line(code: &str) -> String {
    let joined = code.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.replace("( ", "(").replace(", )", ")")
}

/// Returns the first paragraph of the documentation, without links: they lead to other documentation.
fn summary(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let paragraph: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    without_links(&paragraph.join(" "))
}

/// Returns text in which each link is what it shows.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((shown, after)) = link.split_once(']') else {
            rest = &rest[before.len()..];
            break;
        };
        plain.push_str(shown);
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public_is_shown_with_the_first_paragraph_of_its_documentation() {
        let text = "/// A gauge, of a [`Tank`](crate::Tank).\n///\n/// More.\npub struct Gauge<T> { /// How [full] it is.\n\
                    pub level: T, hidden: u8 }\nimpl<T: Copy> Gauge<T> { /// Returns\n/// it.\n#[must_use] pub fn read(\n\
                    &self,\n) -> T { self.level } fn own(&self) {} }\nimpl<T> Drop for Gauge<T> { fn drop(&mut self) {} }\n\
                    /// A part.\npub trait Part { /// Its name.\nconst NAME: &'static str; /// Fits.\nfn fit(&self) -> bool { true } }";
        let items = syn::parse_str::<syn::File>(text).expect("the test's own").items;
        assert_eq!(
            section("Gauge", text, &items),
            "\n## Gauge\n\nA gauge, of a `Tank`.\n\n```rust,ignore\nstruct Gauge<T> {\n    /// How full it is.\n    level: T,\n}\n```\n\
             \n```rust,ignore\nimpl<T: Copy> Gauge<T> {\n    /// Returns it.\n    fn read(&self) -> T;\n}\n```\n"
        );
        assert_eq!(
            section("Part", text, &items),
            "\n## Part\n\nA part.\n\n```rust,ignore\ntrait Part {\n    /// Its name.\n    const NAME: &'static str;\n\n    /// Fits.\n    \
             fn fit(&self) -> bool;\n}\n```\n"
        );
        assert_eq!(section("Tank", text, &items), "");
        assert_eq!(without_links("a [b] [`c`](d::e) f [g"), "a b `c` f [g");
    }
}
