//! XML as text.

/// Writes an element's beginning with its attributes, those that are `None` left out.
pub(crate) fn open(out: &mut String, name: &str, attributes: &[(&str, Option<String>)]) {
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes {
        if let Some(value) = value {
            out.push_str(&format!(" {name}=\"{}\"", escaped(value, true)));
        }
    }
    out.push('>');
}

/// Writes an element that has text alone in it.
pub(crate) fn element(out: &mut String, name: &str, attributes: &[(&str, Option<String>)], text: &str) {
    open(out, name, attributes);
    out.push_str(&escaped(text, false));
    out.push_str(&format!("</{name}>\n"));
}

/// Returns text as XML has it. Characters that XML 1.0 cannot have become U+FFFD; in attributes, white space is kept.
pub(crate) fn escaped(text: &str, is_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            '\n' | '\t' if is_attribute => escaped.push_str(&format!("&#{};", character as u32)),
            // A reader would make a line feed of it.
            '\r' => escaped.push_str("&#13;"),
            '\n' | '\t' => escaped.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_well_formed_and_comes_back(text in "\\PC{0,20}|[\\x00-\\x7f]{0,20}") {
            let mut out = String::new();
            element(&mut out, "a", &[("b", Some(text.clone())), ("c", None)], &text);
            let document = roxmltree::Document::parse(&out).expect("well-formed");
            let expect: String = text
                .chars()
                .map(|c| if c < ' ' && !matches!(c, '\n' | '\r' | '\t') { '\u{fffd}' } else { c })
                .collect();
            prop_assert_eq!(document.root_element().attribute("b"), Some(expect.as_str()));
            prop_assert_eq!(document.root_element().text().unwrap_or_default(), expect);
            prop_assert_eq!(document.root_element().attribute("c"), None);
        }
    }
}
