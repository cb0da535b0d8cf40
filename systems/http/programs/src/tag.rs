//! Entity tags (RFC 9110, section 8.8.3).

/// An entity tag: `"x"`, or the weak `W/"x"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Whether it is weak.
    pub is_weak: bool,
    /// The text between the quotes.
    pub opaque: String,
}

impl Tag {
    /// Returns whether two tags are equal by strong comparison.
    pub fn is_strongly(&self, other: &Self) -> bool {
        !self.is_weak && !other.is_weak && self.is_weakly(other)
    }

    /// Returns whether two tags are equal by weak comparison.
    pub fn is_weakly(&self, other: &Self) -> bool {
        self.opaque == other.opaque
    }

    /// Returns the tags of a list, which may have commas within quotes, too; `None` if it is none.
    pub(crate) fn list(mut text: &str) -> Option<Vec<Self>> {
        let mut tags = Vec::new();
        loop {
            text = text.trim_start_matches([' ', '\t', ',']);
            if text.is_empty() {
                return Some(tags);
            }
            let (is_weak, quoted) = text.strip_prefix("W/").map_or((false, text), |quoted| (true, quoted));
            let (opaque, rest) = quoted.strip_prefix('"')?.split_once('"')?;
            tags.push(Self { is_weak, opaque: opaque.to_owned() });
            text = rest.trim_start_matches([' ', '\t']);
            if !text.is_empty() && !text.starts_with(',') {
                return None;
            }
        }
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}\"{}\"", if self.is_weak { "W/" } else { "" }, self.opaque)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let read = |text| Tag::list(text).map(|tags| tags.iter().map(Tag::to_string).collect::<Vec<_>>());
        assert_eq!(read(r#""a,b" , W/"c",,"""#), Some(vec![r#""a,b""#.into(), r#"W/"c""#.into(), r#""""#.into()]));
        for text in ["a", "\"a", "\"a\" \"b\"", "w/\"a\"", "\"a\", *"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
