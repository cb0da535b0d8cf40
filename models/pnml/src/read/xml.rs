//! Elements, attributes and what is kept of them as text.

use roxmltree::Node;

use super::{PNML, Result};
use crate::error::ReadError;
use crate::write::escape;

pub(super) fn name<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

pub(super) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

pub(super) fn unsupported(node: Node<'_, '_>, advice: &'static str) -> ReadError {
    ReadError::Unsupported { line: line(node), element: name(node).to_owned(), advice }
}

pub(super) fn missing(node: Node<'_, '_>, part: &'static str) -> ReadError {
    ReadError::Missing { line: line(node), element: name(node).to_owned(), part }
}

pub(super) fn bad_value(node: Node<'_, '_>, value: &str, expected: &'static str) -> ReadError {
    ReadError::Value { line: line(node), element: name(node).to_owned(), value: value.to_owned(), expected }
}

pub(super) fn bad_reference(node: Node<'_, '_>, id: &str, problem: &'static str) -> ReadError {
    ReadError::Reference { line: line(node), element: name(node).to_owned(), id: id.to_owned(), problem }
}

/// Checks that a node has no other attributes than these.
fn check_attributes(node: Node<'_, '_>, attributes: &[&str]) -> Result<()> {
    // Of another name space, those of XML say nothing of a net, and those of the file say where a schema is.
    let is_own = |space: &str| space != roxmltree::NS_XML_URI && node != node.document().root_element();
    let own = node.attributes().filter(|attribute| attribute.namespace().is_none_or(is_own));
    let mut others = own.filter(|it| it.namespace().is_some() || !attributes.contains(&it.name()));
    let Some(other) = others.next() else { return Ok(()) };
    let element = format!("{} {}=", name(node), other.name());
    let advice = "remove the attribute if the net means the same without it";
    Err(ReadError::Unsupported { line: line(node), element, advice })
}

/// Returns the elements in a node. It has no other attributes than these, and no text beside them.
pub(super) fn elements<'a, 'i>(node: Node<'a, 'i>, attributes: &[&str]) -> Result<Vec<Node<'a, 'i>>> {
    check_attributes(node, attributes)?;
    let namespace = node.document().root_element().tag_name().namespace();
    let mut all = Vec::new();
    for child in node.children() {
        if child.is_element() && child.tag_name().namespace() == namespace {
            all.push(child);
        } else if child.is_element() {
            return Err(unsupported(child, "it is of another name space; remove it, or put it into `toolspecific`"));
        } else if child.is_text() && child.text().is_some_and(|text| !text.trim().is_empty()) {
            return Err(bad_value(
                node,
                child.text().unwrap_or_default().trim(),
                "elements only, or put it into `text`",
            ));
        }
    }
    Ok(all)
}

/// Returns the only element in a node.
pub(super) fn only<'a, 'i>(node: Node<'a, 'i>, attributes: &[&str], part: &'static str) -> Result<Node<'a, 'i>> {
    match elements(node, attributes)?[..] {
        [one] => Ok(one),
        [] => Err(missing(node, part)),
        [_, other, ..] => Err(unsupported(other, "only one element is expected here; remove the others")),
    }
}

/// Checks that a node has nothing but these attributes.
pub(super) fn nothing_in(node: Node<'_, '_>, attributes: &[&str]) -> Result<()> {
    match elements(node, attributes)?.first() {
        Some(other) => Err(unsupported(*other, "nothing is expected here; remove it")),
        None => Ok(()),
    }
}

/// Returns the terms that an operator is applied to.
pub(super) fn subterms<'a, 'i>(node: Node<'a, 'i>) -> Result<Vec<Node<'a, 'i>>> {
    let subterm = |node| match name(node) {
        "subterm" => only(node, &[], "term"),
        _ => Err(unsupported(node, "write terms of operators into `subterm`")),
    };
    let all: Vec<_> = elements(node, &[])?.into_iter().map(subterm).collect::<Result<_>>()?;
    if all.is_empty() { Err(missing(node, "subterm")) } else { Ok(all) }
}

/// Returns the two terms that an operator is applied to.
pub(super) fn two<'a, 'i>(node: Node<'a, 'i>) -> Result<[Node<'a, 'i>; 2]> {
    let all = subterms(node)?;
    all[..].try_into().map_err(|_| bad_value(node, &format!("{} subterms", all.len()), "two"))
}

/// Returns the one term that an operator is applied to.
pub(super) fn one<'a, 'i>(node: Node<'a, 'i>) -> Result<Node<'a, 'i>> {
    let all = subterms(node)?;
    let [one] = all[..] else { return Err(bad_value(node, &format!("{} subterms", all.len()), "one")) };
    Ok(one)
}

pub(super) fn attribute<'a>(node: Node<'a, '_>, attribute: &'static str) -> Result<&'a str> {
    node.attribute(attribute).ok_or_else(|| missing(node, attribute))
}

pub(super) fn number<T: std::str::FromStr>(node: Node<'_, '_>, text: &str, expected: &'static str) -> Result<T> {
    text.trim().parse().map_err(|_| bad_value(node, text, expected))
}

/// Returns the text of a `text` element.
pub(super) fn text_of(node: Node<'_, '_>) -> Result<String> {
    check_attributes(node, &[])?;
    if let Some(other) = node.children().find(Node::is_element) {
        return Err(unsupported(other, "only characters are expected in `text`"));
    }
    Ok(node.children().filter(Node::is_text).filter_map(|text| text.text()).collect())
}

/// Returns an element as text that means the same anywhere in a net.
pub(super) fn kept(node: Node<'_, '_>) -> String {
    let text = &node.document().input_text()[node.range()];
    let named = text.find(|it: char| it.is_whitespace() || it == '/' || it == '>').unwrap_or(text.len());
    // What the element declares itself stands outside of the values in its tag.
    let mut quote = None;
    let mut tag = String::new();
    for it in text.chars() {
        match quote {
            Some(begun) if it == begun => quote = None,
            Some(_) => continue,
            None if it == '"' || it == '\'' => quote = Some(it),
            None if it == '>' => break,
            None => tag.push(it),
        }
    }
    let declares = |what: &str| tag.split('=').any(|part| part.split_whitespace().next_back() == Some(what));
    let mut inherited = String::new();
    let mut inherit = |attribute: &str, uri: &str| {
        if !declares(attribute) {
            inherited += &format!(" {attribute}=\"{}\"", escape(uri));
        }
    };
    for space in node.namespaces() {
        match space.name() {
            None if space.uri() != PNML => inherit("xmlns", space.uri()),
            Some(prefix) if prefix != "xml" && text.contains(&format!("{prefix}:")) => {
                inherit(&format!("xmlns:{prefix}"), space.uri());
            }
            _ => {}
        }
    }
    if node.default_namespace().is_none() && node.tag_name().namespace().is_some() {
        inherit("xmlns", "");
    }
    format!("{}{inherited}{}", &text[..named], &text[named..])
}

pub(super) fn twice(node: Node<'_, '_>, id: &str) -> ReadError {
    ReadError::Twice { line: line(node), element: name(node).to_owned(), id: id.to_owned() }
}
