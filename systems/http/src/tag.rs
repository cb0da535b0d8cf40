//! Entity tags, and what is known of one that the server chose.

use std::fmt::{Display, Formatter};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use rpds::RedBlackTreeMap;
use serde::{Deserialize, Serialize};
use simutant_oracle::{Open, Region};

/// An entity tag: `"x"`, or the weak `W/"x"` (RFC 9110, section 8.8.3). It is written so in files, too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EntityTag {
    /// Whether it is weak: two contents that mean the same may share it.
    pub is_weak: bool,
    /// The text between the quotes.
    pub opaque: String,
}

/// How two tags are compared (RFC 9110, section 8.8.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// By their texts, and neither may be weak.
    Strong,
    /// By their texts.
    Weak,
}

/// A text is no entity tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTag;

impl std::error::Error for NoTag {}

impl Display for NoTag {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an entity tag is a text in quotes, maybe after W/")
    }
}

impl EntityTag {
    /// Returns a strong tag.
    pub fn strong(opaque: impl Into<String>) -> Self {
        Self { is_weak: false, opaque: opaque.into() }
    }

    /// Returns a weak tag.
    pub fn weak(opaque: impl Into<String>) -> Self {
        Self { is_weak: true, opaque: opaque.into() }
    }

    /// Returns whether two tags match.
    ///
    /// ```
    /// use simutant_http::tag::{Comparison, EntityTag};
    ///
    /// // The table of RFC 9110, section 8.8.3.2.
    /// let [strong, weak] = [EntityTag::strong("1"), EntityTag::weak("1")];
    /// assert!(!weak.matches(&weak, Comparison::Strong) && weak.matches(&weak, Comparison::Weak));
    /// assert!(!weak.matches(&strong, Comparison::Strong) && weak.matches(&strong, Comparison::Weak));
    /// assert!(strong.matches(&strong, Comparison::Strong) && strong.matches(&strong, Comparison::Weak));
    /// assert!(!strong.matches(&EntityTag::strong("2"), Comparison::Weak));
    /// ```
    pub fn matches(&self, other: &Self, comparison: Comparison) -> bool {
        self.opaque == other.opaque && (comparison == Comparison::Weak || !self.is_weak && !other.is_weak)
    }
}

impl Display for EntityTag {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}\"{}\"", if self.is_weak { "W/" } else { "" }, self.opaque)
    }
}

impl FromStr for EntityTag {
    type Err = NoTag;

    fn from_str(text: &str) -> Result<Self, NoTag> {
        let (is_weak, quoted) = text.strip_prefix("W/").map_or((false, text), |quoted| (true, quoted));
        let opaque = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(NoTag)?;
        // etagc: printable, and no quote.
        let is_text = opaque.chars().all(|c| !c.is_control() && c != '"' && c != ' ');
        is_text.then(|| Self { is_weak, opaque: opaque.to_owned() }).ok_or(NoTag)
    }
}

impl TryFrom<String> for EntityTag {
    type Error = NoTag;

    fn try_from(text: String) -> Result<Self, NoTag> {
        text.parse()
    }
}

impl From<EntityTag> for String {
    fn from(tag: EntityTag) -> Self {
        tag.to_string()
    }
}

/// What is known of the tag of a content, which may have none. A weak tag may become the strong one of the same text by
/// itself: that of a file does when the file is old enough.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TagKnowledge {
    /// Its text is none of these, which are in order; or there is no tag.
    Not(Vec<String>),
    /// There is none.
    Missing,
    /// It has been weak, and may be strong by now.
    Weak(String),
    /// It is strong, and stays so.
    Strong(String),
}

impl TagKnowledge {
    /// Returns that nothing is known.
    pub const fn nothing() -> Self {
        Self::Not(Vec::new())
    }

    /// Returns the text of the tag, if it is known to be strong.
    pub fn strong(&self) -> Option<&str> {
        match self {
            Self::Strong(text) => Some(text),
            _ => None,
        }
    }

    /// Learns what the server says that the tag is, and returns whether it can be. `may_be_strong` says whether the tag can be
    /// strong with its text: not where another content had it.
    ///
    /// ```
    /// use simutant_http::tag::{EntityTag, TagKnowledge};
    ///
    /// let mut tag = TagKnowledge::nothing();
    /// assert!(tag.reveal(Some(&EntityTag::weak("1")), true) && tag.reveal(Some(&EntityTag::strong("1")), true));
    /// assert!(!tag.reveal(Some(&EntityTag::weak("1")), true), "it was strong");
    /// assert!(!tag.reveal(None, true), "it was there");
    /// ```
    pub fn reveal(&mut self, said: Option<&EntityTag>, may_be_strong: bool) -> bool {
        let Some(said) = said else {
            let can_be = matches!(self, Self::Not(_) | Self::Missing);
            *self = Self::Missing;
            return can_be;
        };
        let can_be = match self {
            Self::Not(excluded) => excluded.binary_search(&said.opaque).is_err(),
            Self::Missing => false,
            Self::Weak(text) => *text == said.opaque,
            Self::Strong(text) => *text == said.opaque && !said.is_weak,
        };
        let text = said.opaque.clone();
        *self = if said.is_weak { Self::Weak(text) } else { Self::Strong(text) };
        can_be && (said.is_weak || may_be_strong)
    }

    /// Returns whether the tag matches one of a request. Where that is not known, both are possible, and what was decided
    /// holds from then on. `may_be_strong` is that of [`TagKnowledge::reveal`].
    pub fn matches(
        &mut self,
        given: &EntityTag,
        comparison: Comparison,
        may_be_strong: bool,
        open: &mut Open<'_>,
    ) -> bool {
        if comparison == Comparison::Strong && (given.is_weak || !may_be_strong) {
            return false;
        }
        if let Self::Not(excluded) = self {
            let Err(place) = excluded.binary_search(&given.opaque) else { return false };
            if open.maybe() {
                excluded.insert(place, given.opaque.clone());
                return false;
            }
            *self = Self::Weak(given.opaque.clone());
        }
        match self {
            Self::Weak(text) if *text == given.opaque && comparison == Comparison::Strong => {
                // It is weak for now, or has become strong.
                let is_strong = !open.maybe();
                if is_strong {
                    *self = Self::Strong(given.opaque.clone());
                }
                is_strong
            }
            Self::Weak(text) | Self::Strong(text) => *text == given.opaque,
            Self::Not(_) | Self::Missing => false,
        }
    }
}

/// The strong tags that contents had, each with the content. They become more and more, so states share them, and are told
/// apart by a sum of their hashes first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    sum: u64,
    bodies: RedBlackTreeMap<Arc<str>, Arc<str>>,
}

impl Hash for Spent {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.sum.hash(hasher);
    }
}

impl Spent {
    /// Returns the content that had a tag.
    pub(crate) fn get(&self, tag: &str) -> Option<&Arc<str>> {
        self.bodies.get(tag)
    }

    /// Adds the tag of a content.
    pub(crate) fn insert(&mut self, tag: &str, body: &Arc<str>) {
        let (tag, body) = (Arc::<str>::from(tag), Arc::clone(body));
        self.sum = self.sum.wrapping_add(Region::of(&(&tag, &body)).0);
        self.bodies.insert_mut(tag, body);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A question to a server about one content, and what it says.
    #[derive(Debug, Clone)]
    enum Seen {
        Said(Option<EntityTag>),
        Compared(EntityTag, Comparison, bool),
    }

    /// A tag of a server, and whether it is weak yet.
    type Actual = Option<EntityTag>;

    /// Returns all tags that a content can have after what was seen, by looking at each of them.
    fn by_looking_at_all(all: &[EntityTag], seen: &[Seen]) -> BTreeSet<Actual> {
        let none_or_one: Vec<Actual> = all.iter().cloned().map(Some).chain([None]).collect();
        let mut possible: BTreeSet<Actual> = none_or_one.iter().cloned().collect();
        for seen in seen {
            // Before each question, a weak tag may become strong.
            possible.extend(possible.clone().into_iter().flatten().map(|tag| Some(EntityTag::strong(tag.opaque))));
            possible.retain(|actual| match seen {
                Seen::Said(said) => actual == said,
                Seen::Compared(given, comparison, result) => {
                    actual.as_ref().is_some_and(|tag| tag.matches(given, *comparison)) == *result
                }
            });
        }
        possible
    }

    /// Returns whether what was seen is possible, as knowledge says, over all that is left open.
    fn by_knowledge(seen: &[Seen]) -> bool {
        let mut states = vec![TagKnowledge::nothing()];
        for seen in seen {
            let mut after = Vec::new();
            for state in &states {
                // A comparison asks twice at most.
                for choices in 0..4_usize {
                    let (mut state, mut asked) = (state.clone(), 0);
                    let mut decide = |options: usize| {
                        asked += 1;
                        (choices >> (asked - 1)) % options
                    };
                    let agrees = match seen {
                        Seen::Said(said) => state.reveal(said.as_ref(), true),
                        Seen::Compared(given, comparison, result) => {
                            state.matches(given, *comparison, true, &mut Open::decided_by(&mut decide)) == *result
                        }
                    };
                    if agrees && !after.contains(&state) {
                        after.push(state);
                    }
                }
            }
            states = after;
        }
        !states.is_empty()
    }

    #[test]
    fn knowledge_allows_what_a_tag_of_up_to_three_letters_explains() {
        let texts = ["", "a", "b", "ab", "ba", "aab", "bbb"];
        let all: Vec<EntityTag> =
            texts.iter().flat_map(|text| [EntityTag::strong(*text), EntityTag::weak(*text)]).collect();
        // Questions are about few of them: there is always a tag that none is about.
        let asked = [EntityTag::strong("a"), EntityTag::weak("a"), EntityTag::strong("ab"), EntityTag::weak("ab")];
        let mut answers = vec![Seen::Said(None)];
        for tag in &asked {
            answers.push(Seen::Said(Some(tag.clone())));
            for comparison in [Comparison::Strong, Comparison::Weak] {
                answers.extend([false, true].map(|result| Seen::Compared(tag.clone(), comparison, result)));
            }
        }
        let mut open: Vec<Vec<Seen>> = vec![Vec::new()];
        let (mut checked, mut possible) = (0, 0);
        for _ in 0..3 {
            open = open
                .iter()
                .flat_map(|seen| answers.iter().map(|next| [seen.as_slice(), std::slice::from_ref(next)].concat()))
                .collect();
            for seen in &open {
                let expected = !by_looking_at_all(&all, seen).is_empty();
                assert_eq!(by_knowledge(seen), expected, "{seen:?}");
                (checked, possible) = (checked + 1, possible + u32::from(expected));
            }
            open.retain(|seen| by_knowledge(seen));
        }
        assert!(checked > 2_000 && possible > 1_000 && possible < checked, "{possible} of {checked}");
    }

    #[test]
    fn tags_are_read_as_they_are_written() {
        for text in ["\"\"", "\"a-1\"", "W/\"a\""] {
            assert_eq!(text.parse::<EntityTag>().map(|tag| tag.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "a", "\"", "w/\"a\"", "\"a\"b\"", "\"a b\""] {
            assert_eq!(text.parse::<EntityTag>(), Err(NoTag), "{text}");
        }
    }
}
