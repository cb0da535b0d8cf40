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
        Self(text)
    }

    /// Adds a sentence in the place of a table that would be empty.
    pub(crate) fn say(&mut self, sentence: &str) {
        self.0.push_str(&format!("\n{sentence}\n"));
    }

    /// Adds a list, its lines as they are, below a title and a sentence.
    pub(crate) fn list(&mut self, title: &str, sentence: Option<&str>, list: &str) {
        let sentence = sentence.map_or_else(String::new, |sentence| format!("{}\n", wrapped(sentence)));
        self.0.push_str(&format!("\n{title}\n{sentence}{list}"));
    }

    pub(crate) fn add(&mut self, title: &str, table: Table, notes: &[String]) {
        self.0.push_str(&format!("\n{title}\n{}\n", table.trim_fmt()));
        notes.iter().for_each(|note| self.0.push_str(&format!("{note}\n")));
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// How wide prose and tables are.
pub(crate) const WIDTH: usize = 80;

/// Returns prose in lines of at most [`WIDTH`] characters, but for words that are longer.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
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
