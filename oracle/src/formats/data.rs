//! Values of EDN and of JSON, read byte by byte.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::Value;
use super::error::{HistoryError, Place};
use super::source::Scanner;

/// The greatest depth of nested values.
pub const DEPTH_MAX: usize = 64;

/// The most bytes of memory that the values of an event may take: 256 MiB, which are some four million values.
pub const VALUES_MAX: usize = 256 << 20;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    /// Clojure's data notation.
    Edn,
    /// JSON.
    Json,
}

/// What is next in a file.
#[derive(Debug)]
pub(super) enum Next {
    /// A value, and where it begins.
    Value(Place, Value),
    /// What closes the values around it.
    Closed,
    /// The end of the file.
    End,
}

/// What reads values.
#[derive(Debug)]
pub(super) struct Reader<R> {
    pub(super) scanner: Scanner<R>,
    grammar: Grammar,
    /// How many bytes the values may take still.
    left: usize,
}

impl Grammar {
    const fn name(self) -> &'static str {
        match self {
            Self::Edn => "EDN",
            Self::Json => "JSON",
        }
    }

    /// Returns whether a byte is between values and means nothing.
    const fn is_space(self, byte: u8) -> bool {
        match self {
            Self::Edn => byte.is_ascii_whitespace() || byte == b',',
            Self::Json => byte.is_ascii_whitespace(),
        }
    }

    const fn ends_word(self, byte: u8) -> bool {
        self.is_space(byte)
            || matches!(byte, b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'"' | b',')
            || match self {
                Self::Edn => matches!(byte, b';' | b'@' | b'^' | b'`' | b'~'),
                Self::Json => byte == b':',
            }
    }
}

impl<R: BufRead> Reader<R> {
    pub(super) const fn new(scanner: Scanner<R>, grammar: Grammar) -> Self {
        Self { scanner, grammar, left: VALUES_MAX }
    }

    /// Returns the byte that the next value begins with, or that closes the values around it.
    pub(super) fn start(&mut self) -> Result<Option<u8>, HistoryError> {
        loop {
            let grammar = self.grammar;
            self.scanner.skip_while(|byte| grammar.is_space(byte))?;
            if grammar == Grammar::Edn && self.scanner.peek()? == Some(b';') {
                self.scanner.skip_while(|byte| byte != b'\n')?;
            } else {
                return self.scanner.peek();
            }
        }
    }

    /// Returns the next value, or goes on behind the byte that closes the values around it.
    pub(super) fn next(&mut self, close: Option<u8>) -> Result<Next, HistoryError> {
        self.scanner.begin();
        self.left = VALUES_MAX;
        self.value(close, 0)
    }

    /// Returns the error that the file ends within a value.
    pub(super) fn cut(&self) -> HistoryError {
        self.scanner.place().error(
            "the file ends within a value",
            "it was cut, or a bracket is not closed: record the history again, or close it",
        )
    }

    /// Returns the error that a byte cannot be here.
    fn unexpected(&self, place: Place, what: &str) -> HistoryError {
        let name = self.grammar.name();
        place.error(
            format!("{what} is not {name}"),
            format!("a history in {name} is maps, one after the other or in a list"),
        )
    }

    fn value(&mut self, close: Option<u8>, depth: usize) -> Result<Next, HistoryError> {
        loop {
            let Some(byte) = self.start()? else { return Ok(Next::End) };
            let place = self.scanner.place();
            if Some(byte) == close {
                self.scanner.next()?;
                return Ok(Next::Closed);
            }
            if depth >= DEPTH_MAX {
                return Err(place.error(
                    format!("values lie more than {DEPTH_MAX} deep in each other"),
                    "a history has none that are so deep: close brackets where they end",
                ));
            }
            let value = match (self.grammar, byte) {
                (_, b'"') => self.text()?,
                (_, b'[') => self.list(b']', depth)?,
                (Grammar::Edn, b'(') => self.list(b')', depth)?,
                (Grammar::Edn, b'{') => self.map(depth)?,
                (Grammar::Json, b'{') => self.object(depth)?,
                (Grammar::Edn, b'\\') => self.character()?,
                (Grammar::Edn, b'#') => match self.dispatch(place, depth)? {
                    Some(value) => value,
                    None => continue,
                },
                (grammar, byte) if grammar.ends_word(byte) => {
                    return Err(self.unexpected(place, &format!("{:?} here", char::from(byte))));
                }
                _ => self.word()?,
            };
            self.charge(place, &value)?;
            return Ok(Next::Value(place, value));
        }
    }

    /// Counts the memory of a value, with its share of the list or the tree that it lies in.
    fn charge(&mut self, place: Place, value: &Value) -> Result<(), HistoryError> {
        /// A value with as much room as a list that grows has for it.
        const VALUE: usize = 2 * size_of::<Value>();
        /// The first node of a tree has room for eleven.
        const NODE: usize = 12 * size_of::<Value>();
        let more = match value {
            Value::Set { set } if !set.is_empty() => NODE,
            Value::Map { map } if !map.is_empty() => 2 * NODE,
            Value::Text(text) | Value::Word { word: text } => text.as_str().len() + NODE / 12,
            _ => 0,
        };
        self.left = self.left.checked_sub(VALUE + more).ok_or_else(|| {
            let message = format!("the values up to here take more than {VALUES_MAX} bytes of memory");
            place.error(message, "an event has no such value: record what was asked and answered alone")
        })?;
        Ok(())
    }

    /// Returns the next value, which must be there.
    fn must(&mut self, depth: usize) -> Result<(Place, Value), HistoryError> {
        match self.value(None, depth)? {
            Next::Value(place, value) => Ok((place, value)),
            Next::Closed | Next::End => Err(self.cut()),
        }
    }

    /// Returns whether the byte that closes is next, and goes on behind it.
    fn closes(&mut self, close: u8) -> Result<bool, HistoryError> {
        match self.start()? {
            None => Err(self.cut()),
            Some(byte) if byte == close => self.scanner.next().map(|_| true),
            Some(_) => Ok(false),
        }
    }

    /// Goes on behind a byte that must be next.
    fn expect(&mut self, byte: u8) -> Result<(), HistoryError> {
        if self.closes(byte)? {
            return Ok(());
        }
        let place = self.scanner.place();
        let message = format!("{:?} is missing", char::from(byte));
        Err(place.error(message, format!("write it here, as {} has it", self.grammar.name())))
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Value, HistoryError> {
        let mut values = Vec::new();
        self.elements(close, depth, |_, value| {
            values.push(value);
            Ok(())
        })?;
        // The first room of a list is for several values, which many lists of one would not use.
        if values.len() == 1 {
            values.shrink_to_fit();
        }
        Ok(Value::List(values))
    }

    /// Gives away each value up to the byte that closes them.
    fn elements(
        &mut self,
        close: u8,
        depth: usize,
        mut take: impl FnMut(Place, Value) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        self.scanner.next()?;
        match self.grammar {
            Grammar::Edn => loop {
                match self.value(Some(close), depth + 1)? {
                    Next::Value(place, value) => take(place, value)?,
                    Next::Closed => break,
                    Next::End => return Err(self.cut()),
                }
            },
            Grammar::Json => {
                let mut is_closed = self.closes(close)?;
                while !is_closed {
                    let (place, value) = self.must(depth + 1)?;
                    take(place, value)?;
                    is_closed = self.closes(close)?;
                    if !is_closed {
                        self.expect(b',')?;
                    }
                }
            }
        }
        Ok(())
    }

    fn map(&mut self, depth: usize) -> Result<Value, HistoryError> {
        let mut map = BTreeMap::new();
        let mut key = None;
        self.elements(b'}', depth, |place, value| match key.take() {
            None => {
                key = Some((place, value));
                Ok(())
            }
            Some((place, key)) => insert(&mut map, place, key, value),
        })?;
        match key {
            None => Ok(Value::map(map)),
            Some((place, key)) => {
                Err(place.error(format!("the key {} has no value", key.shown()), "give it one, or `nil`"))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, HistoryError> {
        self.scanner.next()?;
        let mut map = BTreeMap::new();
        if self.closes(b'}')? {
            return Ok(Value::map(map));
        }
        loop {
            let (place, key) = self.must(depth + 1)?;
            if !matches!(key, Value::Text(_)) {
                return Err(place.error(format!("the key {} is no text", key.shown()), "put it in quotes"));
            }
            self.expect(b':')?;
            let (_, value) = self.must(depth + 1)?;
            insert(&mut map, place, key, value)?;
            if self.closes(b'}')? {
                return Ok(Value::map(map));
            }
            self.expect(b',')?;
        }
    }

    /// Returns what begins with a `#`: a set, or a value with a tag; `None` after a value that EDN leaves out.
    fn dispatch(&mut self, place: Place, depth: usize) -> Result<Option<Value>, HistoryError> {
        self.scanner.next()?;
        match self.scanner.peek()? {
            Some(b'{') => {
                let mut set = BTreeSet::new();
                self.elements(b'}', depth, |place, value| {
                    if set.contains(&value) {
                        let message = format!("the set has {} twice", value.shown());
                        return Err(place.error(message, "a set has each value once: use a vector, or leave one out"));
                    }
                    set.insert(value);
                    Ok(())
                })?;
                Ok(Some(Value::set(set)))
            }
            Some(b'_') => {
                self.scanner.next()?;
                self.must(depth + 1).map(|_| None)
            }
            // `##Inf` and its like.
            Some(b'#') => {
                self.scanner.next()?;
                let grammar = self.grammar;
                let word = self.scanner.take_while(|byte| !grammar.ends_word(byte))?;
                Ok(Some(Value::word(&self.utf_8(place, [&b"##"[..], &word].concat())?)))
            }
            // The value of a tag is what the history has: Jepsen's records are maps with a tag.
            Some(first) if first.is_ascii_alphabetic() => {
                let grammar = self.grammar;
                self.scanner.skip_while(|byte| !grammar.ends_word(byte))?;
                self.must(depth + 1).map(|(_, value)| Some(value))
            }
            _ => Err(self.unexpected(place, "`#` here")),
        }
    }

    fn character(&mut self) -> Result<Value, HistoryError> {
        let place = self.scanner.place();
        self.scanner.next()?;
        let grammar = self.grammar;
        let mut name: Vec<u8> = self.scanner.next()?.into_iter().collect();
        name.extend(self.scanner.take_while(|byte| !grammar.ends_word(byte))?);
        let name = self.utf_8(place, name)?;
        let character = match name.as_str() {
            "newline" => "\n",
            "return" => "\r",
            "space" => " ",
            "tab" => "\t",
            one if one.chars().count() == 1 => one,
            _ => return Err(self.unexpected(place, &format!("the character \\{name}"))),
        };
        Ok(Value::text(character))
    }

    fn utf_8(&self, place: Place, bytes: Vec<u8>) -> Result<String, HistoryError> {
        String::from_utf8(bytes).map_err(|_| place.error("the text is not UTF-8", "write the file anew in UTF-8"))
    }

    fn text(&mut self) -> Result<Value, HistoryError> {
        let place = self.scanner.place();
        self.scanner.next()?;
        let mut text = Vec::new();
        loop {
            text.append(&mut self.scanner.take_while(|byte| byte != b'"' && byte != b'\\')?);
            let escape = self.scanner.place();
            match self.scanner.next()? {
                None => return Err(self.cut()),
                Some(b'"') => return Ok(Value::text(&self.utf_8(place, text)?)),
                Some(_) => {
                    let character = match self.scanner.next()? {
                        Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
                        Some(b'b') => '\u{8}',
                        Some(b'f') => '\u{c}',
                        Some(b'n') => '\n',
                        Some(b'r') => '\r',
                        Some(b't') => '\t',
                        Some(b'u') => self.escaped(escape)?,
                        None => return Err(self.cut()),
                        Some(_) => return Err(bad_escape(escape)),
                    };
                    text.extend(character.encode_utf8(&mut [0; 4]).bytes());
                }
            }
        }
    }

    /// Returns the character of `\uXXXX`, or of two of them.
    fn escaped(&mut self, place: Place) -> Result<char, HistoryError> {
        let first = self.hexadecimal(place)?;
        let code = match first {
            0xd800..0xdc00 => {
                if [self.scanner.next()?, self.scanner.next()?] != [Some(b'\\'), Some(b'u')] {
                    return Err(bad_escape(place));
                }
                let second = self.hexadecimal(place)?.checked_sub(0xdc00).filter(|low| *low < 0x400);
                0x1_0000 + ((first - 0xd800) << 10) + second.ok_or_else(|| bad_escape(place))?
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| bad_escape(place))
    }

    fn hexadecimal(&mut self, place: Place) -> Result<u32, HistoryError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.scanner.next()?.and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| bad_escape(place))?;
        }
        Ok(code)
    }

    fn word(&mut self) -> Result<Value, HistoryError> {
        let (place, grammar) = (self.scanner.place(), self.grammar);
        let word = self.scanner.take_while(|byte| !grammar.ends_word(byte))?;
        let word = self.utf_8(place, word)?;
        let is_number = word.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit());
        match (grammar, word.as_str()) {
            (Grammar::Edn, "nil") | (Grammar::Json, "null") => Ok(Value::Nil),
            (_, "true") => Ok(Value::Boolean(true)),
            (_, "false") => Ok(Value::Boolean(false)),
            (Grammar::Edn, number) if is_number => {
                // `N` says that an integer may be large.
                Ok(number
                    .strip_suffix('N')
                    .unwrap_or(number)
                    .parse()
                    .map_or_else(|_| Value::word(number), Value::Integer))
            }
            (Grammar::Json, number) if is_number && serde_json::from_str::<serde_json::Number>(number).is_ok() => {
                Ok(number.parse().map_or_else(|_| Value::word(number), Value::Integer))
            }
            (Grammar::Edn, ":" | "::") | (Grammar::Json, _) => Err(self.unexpected(place, &Value::word(&word).shown())),
            (Grammar::Edn, word) => Ok(Value::word(word)),
        }
    }
}

fn insert(map: &mut BTreeMap<Value, Value>, place: Place, key: Value, value: Value) -> Result<(), HistoryError> {
    match map.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
        Entry::Occupied(entry) => {
            let message = format!("the map has the key {} twice", entry.key().shown());
            Err(place.error(message, "leave one of them out"))
        }
    }
}

fn bad_escape(place: Place) -> HistoryError {
    place.error("no character is escaped like this", "write it as \\n, \\t, \\r, \\\\, \\\" or \\uXXXX")
}
