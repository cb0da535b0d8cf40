//! Tables for a terminal.

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// A line below the head and no others: rows are short enough to follow.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Tables under each other, each with its title above and notes below.
#[derive(Debug)]
pub(crate) struct Sections(String);

impl Sections {
    /// Begins with `text`, which ends in a line break.
    pub(crate) fn new(text: String) -> Self {
        Self(wrapped_lines(&text))
    }

    /// Begins the section of this name: what is added from now on can be shown alone.
    pub(crate) fn begin(&mut self, name: &str) {
        self.0.push_str(&format!("\n{}", heading(name)));
    }

    /// Adds a sentence in the place of a table that would be empty.
    pub(crate) fn say(&mut self, sentence: &str) {
        self.0.push_str(&format!("\n{}\n", wrapped(sentence)));
    }

    /// Adds sentences, each on lines of its own; nothing if there are none.
    pub(crate) fn lines(&mut self, sentences: &[String]) {
        if !sentences.is_empty() {
            self.0.push('\n');
            sentences.iter().for_each(|sentence| self.0.push_str(&format!("{}\n", wrapped(sentence))));
        }
    }

    /// Adds a list, its lines as they are, below a title and a sentence.
    pub(crate) fn list(&mut self, title: &str, sentence: Option<&str>, list: &str) {
        let sentence = sentence.map_or_else(String::new, |sentence| format!("{}\n", wrapped(sentence)));
        self.0.push_str(&format!("\n{title}\n{sentence}{list}"));
    }

    pub(crate) fn add(&mut self, title: &str, table: Table, notes: &[String]) {
        self.0.push_str(&format!("\n{}\n{}\n", wrapped(title), fitting(&table)));
        notes.iter().for_each(|note| self.0.push_str(&format!("{}\n", wrapped(note))));
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// Before the name of a section.
const HEADING: &str = "# ";

/// Returns the line that a section begins with.
pub(crate) fn heading(name: &str) -> String {
    format!("{HEADING}{name}\n")
}

/// A part of a text that can be shown alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// The word that names it.
    pub name: &'a str,
    /// What it says, without its name.
    pub text: &'a str,
}

impl<'a> Section<'a> {
    /// Returns its first line.
    pub fn title(&self) -> &'a str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// Returns the sections of a text such as [`tables`](crate::tables) returns, in their order.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let is_heading = |line: &str| line.strip_prefix(HEADING).is_some_and(|name| !name.contains(' '));
    let mut offset = 0;
    let mut headings = Vec::new();
    for line in text.split_inclusive('\n') {
        if is_heading(line.trim_end()) {
            headings.push((offset, offset + line.len()));
        }
        offset += line.len();
    }
    let ends = headings.iter().map(|(start, _)| *start).skip(1).chain([text.len()]);
    let section = |((start, end), last): (&(usize, usize), usize)| Section {
        name: text[*start + HEADING.len()..*end].trim_end(),
        text: text[*end..last].trim_matches('\n'),
    };
    headings.iter().zip(ends).map(section).collect()
}

/// How wide prose and tables are.
pub(crate) const WIDTH: usize = 80;

/// Returns a text with those of its lines wrapped that are prose: rows of tables and lists begin with a space.
pub(crate) fn wrapped_lines(text: &str) -> String {
    let line = |line: &str| if line.starts_with([' ', '─']) { line.to_owned() } else { wrapped(line) };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Returns prose in lines of at most 80 characters, but for words that are longer.
pub fn wrapped(text: &str) -> String {
    wrapped_at(text, WIDTH)
}

/// Returns prose in lines of at most so many characters, but for words that are longer.
pub(crate) fn wrapped_at(text: &str, width_max: usize) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in words(text) {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > width_max {
            lines.push('\n');
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

/// Returns the words of a text; a number and its percent sign are one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut ends = text.match_indices(' ').map(|(end, _)| end).filter(|end| !text[end + 1..].starts_with('%'));
        let end = ends.next();
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Returns a text on one line, as it is before it is wrapped.
#[cfg(test)]
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a table of at most [`WIDTH`] columns, or a list of its rows where it is wider: the first cell of each, and
/// below that the others with the names of their columns.
pub(crate) fn fitting(table: &Table) -> String {
    let drawn = table.trim_fmt();
    if drawn.lines().all(|line| line.chars().count() <= WIDTH) {
        return drawn;
    }
    let head: Vec<String> = table.header().into_iter().flat_map(|row| row.cell_iter()).map(Cell::content).collect();
    let mut text = String::new();
    for row in table.row_iter() {
        let row: Vec<String> = row.cell_iter().map(Cell::content).collect();
        text.push_str(&format!("{}\n", wrapped(row.first().map_or("", String::as_str))));
        let cells = row.iter().zip(&head).skip(1).filter(|(cell, _)| !cell.is_empty());
        let cells = cells.map(|(cell, name)| match name.as_str() {
            "" => cell.clone(),
            name => format!("{name}: {cell}"),
        });
        // A cell is not broken where there is room for it on a line of its own.
        let mut line = String::new();
        for cell in cells {
            let width = line.chars().count();
            if width > 0 && width + 2 + cell.chars().count() + INDENT.len() >= WIDTH {
                text.push_str(&format!("{INDENT}{line};\n"));
                line.clear();
            }
            line.push_str(if line.is_empty() { "" } else { "; " });
            line.push_str(&cell);
        }
        let long = wrapped_at(&line, WIDTH - INDENT.len());
        long.lines().for_each(|line| text.push_str(&format!("{INDENT}{line}\n")));
    }
    text.trim_end().to_owned()
}

/// Before the cells of a row that is a list.
const INDENT: &str = "  ";

/// A table, for a terminal or a page.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The names of the columns.
    pub(crate) head: Vec<String>,
    /// The rows, as wide as the head.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Rows {
    /// Returns the table for a terminal.
    pub(crate) fn table(self) -> Table {
        let mut table = table(self.head);
        self.rows.into_iter().for_each(|row| _ = table.add_row(cells(row)));
        table
    }
}

/// A table with this head, drawn alike on every terminal and in every pipe.
pub(crate) fn table<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).force_no_tty().set_header(cells(head));
    table
}

/// A row: the first cell to the left, numbers to the right.
pub(crate) fn cells<T: Into<String>>(row: impl IntoIterator<Item = T>) -> Vec<Cell> {
    row.into_iter()
        .enumerate()
        .map(|(column, text)| {
            let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text.into()).set_alignment(alignment)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prose_loses_nothing_and_fits(words in prop::collection::vec("[a-zä−]{1,12}", 0..60)) {
            let text = words.join(" ");
            let wrapped = wrapped(&text);
            prop_assert_eq!(wrapped.replace('\n', " "), text);
            prop_assert!(wrapped.lines().all(|line| line.chars().count() <= WIDTH), "{}", wrapped);
        }

        #[test]
        fn a_table_fits_or_is_a_list_with_every_cell(rows in prop::collection::vec(prop::collection::vec("[a-z0-9]{1,14}", 9), 1..5)) {
            let head: Vec<String> = (0..9).map(|column| format!("column{column}")).collect();
            let text = fitting(&Rows { head, rows: rows.clone() }.table());
            prop_assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{}", text);
            for cell in rows.iter().flatten() {
                prop_assert!(text.contains(cell.as_str()), "{} is not in {}", cell, text);
            }
        }
    }

    #[test]
    fn a_text_is_its_sections() {
        let mut text = Sections::new(heading("first") + "one\n");
        text.say("# no heading");
        text.begin("second");
        text.say("two");
        let text = text.text();
        let found = sections(&text);
        let expect = [("first", "one\n\n# no heading"), ("second", "two")];
        assert_eq!(found.iter().map(|section| (section.name, section.text)).collect::<Vec<_>>(), expect, "{text}");
        assert_eq!(found[0].title(), "one");
        assert_eq!(sections("no section"), []);
    }

    #[test]
    fn a_row_that_is_too_wide_is_a_list() {
        let head = ["name", "first", "second", ""].map(str::to_owned).to_vec();
        let rows = vec![vec!["row".into(), "a".repeat(40), "b".repeat(40), "rest".into()]];
        let text = fitting(&Rows { head, rows }.table());
        assert_eq!(text, format!("row\n  first: {};\n  second: {}; rest", "a".repeat(40), "b".repeat(40)));
    }
}
