//! A table with typed columns, and its forms: CSV, LaTeX and Parquet.

/// A table whose columns have equally many values.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name: lower case, without spaces.
    pub name: &'static str,
    /// What it shows, in a sentence without a full stop.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name: lower case, with `_` between words.
    pub name: &'static str,
    /// Its values.
    pub values: Values,
}

/// The values of a column; `None` where a value is not defined.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Real numbers, none of them NaN or infinite.
    Reals(Vec<Option<f64>>),
    /// Truths.
    Truths(Vec<Option<bool>>),
}

impl Values {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
            Self::Truths(values) => values.len(),
        }
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// Returns a table without columns.
    pub fn new(name: &'static str, caption: impl Into<String>) -> Self {
        Self { name, caption: caption.into(), columns: Vec::new() }
    }

    /// Adds a column of texts.
    pub fn text<T: Into<String>>(self, name: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        self.texts(name, values.into_iter().map(|value| Some(value.into())))
    }

    /// Adds a column of texts of which some are not defined.
    pub fn texts(self, name: &'static str, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.with(name, Values::Text(values.into_iter().collect()))
    }

    /// Adds a column of whole numbers.
    ///
    /// # Panics
    /// If one is too large for 63 bits, as no count of a study is.
    pub fn integer<T: TryInto<i64>>(self, name: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(|value| value.try_into().ok());
        let values: Vec<Option<i64>> = values.collect();
        assert!(values.iter().all(Option::is_some), "{name}: a count of 64 bits");
        self.with(name, Values::Integers(values))
    }

    /// Adds a column of whole numbers of which some are not defined.
    pub fn integers(self, name: &'static str, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.with(name, Values::Integers(values.into_iter().collect()))
    }

    /// Adds a column of real numbers of which some are not defined.
    pub fn real(self, name: &'static str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values: Vec<Option<f64>> = values.into_iter().collect();
        assert!(values.iter().flatten().all(|value| value.is_finite()), "{name}: what is not defined is `None`");
        self.with(name, Values::Reals(values))
    }

    /// Adds a column of truths.
    pub fn truth(self, name: &'static str, values: impl IntoIterator<Item = bool>) -> Self {
        self.with(name, Values::Truths(values.into_iter().map(Some).collect()))
    }

    /// Returns how many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    fn with(mut self, name: &'static str, values: Values) -> Self {
        let rows = self.rows();
        assert!(
            self.columns.is_empty() || values.len() == rows,
            "{}.{name}: {} of {rows} rows",
            self.name,
            values.len()
        );
        self.columns.push(Column { name, values });
        self
    }

    /// Returns the table as CSV (RFC 4180, with line feeds): a head with the columns' names, empty fields for what is
    /// not defined, numbers as they are read back to the last bit.
    pub fn to_csv(&self) -> String {
        let names = self.columns.iter().map(|column| column.name);
        let mut text = names.collect::<Vec<_>>().join(",") + "\n";
        for row in 0..self.rows() {
            for (index, column) in self.columns.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                match &column.values {
                    Values::Text(values) => text.push_str(&csv_field(values[row].as_deref())),
                    Values::Integers(values) => push(&mut text, values[row]),
                    Values::Reals(values) => push(&mut text, values[row]),
                    Values::Truths(values) => push(&mut text, values[row]),
                }
            }
            text.push('\n');
        }
        text
    }

    /// Returns the table as LaTeX with the rules of the package `booktabs`: a `tabular` in a `table`, with the caption
    /// and the label `tab:NAME`. Real numbers have `decimals` digits after the point.
    pub fn to_latex(&self, decimals: usize) -> String {
        let alignments: String = self
            .columns
            .iter()
            .map(|column| if matches!(column.values, Values::Text(_)) { 'l' } else { 'r' })
            .collect();
        let head =
            self.columns.iter().map(|column| latex(&column.name.replace('_', " "))).collect::<Vec<_>>().join(" & ");
        let mut text = format!(
            "% Needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}.\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n\
             \\begin{{tabular}}{{{alignments}}}\n\\toprule\n{head} \\\\\n\\midrule\n",
            latex(&self.caption),
            self.name,
        );
        for row in 0..self.rows() {
            let fields = self.columns.iter().map(|column| {
                let field = match &column.values {
                    Values::Text(values) => values[row].as_deref().map(latex),
                    Values::Integers(values) => values[row].map(|value| value.to_string()),
                    Values::Reals(values) => values[row].map(|value| number(value, decimals)),
                    Values::Truths(values) => values[row].map(|value| if value { "yes" } else { "no" }.to_owned()),
                };
                field.unwrap_or_else(|| "---".to_owned())
            });
            let row = fields.collect::<Vec<_>>().join(" & ");
            // It would be an argument of the end of the line before.
            text.push_str(if row.starts_with(['[', '*']) { "{}" } else { "" });
            text.push_str(&row);
            text.push_str(" \\\\\n");
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
        text
    }

    /// Returns the table as a Parquet file: one row group, plain and dictionary encoding, no compression, so that every
    /// reader can read it.
    #[cfg(feature = "parquet")]
    pub fn to_parquet(&self) -> Vec<u8> {
        crate::parquet::write(self).expect("a table in memory has nothing that can fail")
    }
}

fn push<T: std::fmt::Display>(text: &mut String, value: Option<T>) {
    if let Some(value) = value {
        text.push_str(&value.to_string());
    }
}

/// A text that is there and empty is quoted, one that is not there is nothing.
fn csv_field(text: Option<&str>) -> String {
    match text {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains(['"', ',', '\n', '\r']) || text != text.trim() => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text.to_owned(),
    }
}

/// A number with a minus sign instead of a hyphen, and no minus before zero.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().any(|digit| ('1'..='9').contains(&digit)) => format!("$-${digits}"),
        Some(digits) => digits.to_owned(),
        None => text,
    }
}

/// Text as LaTeX has it, in which nothing is a command.
fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '`' => escaped.push_str("\\textasciigrave{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '…' => escaped.push_str("\\ldots{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\r' | '\t' => escaped.push(' '),
            // Two of them would be a dash.
            '-' if escaped.ends_with('-') => escaped.push_str("{}-"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn example() -> Table {
        Table::new("example", "A_b & 5 % of it")
            .texts("name", [Some("plain".to_owned()), Some("a, \"b\"\nc".into()), None, Some(String::new())])
            .integer("count", [1_u64, 2, 3, 4])
            .real("share", [Some(0.1), None, Some(-1e-9), Some(-0.5)])
            .truth("holds", [true, false, true, false])
    }

    #[test]
    fn csv_tells_what_is_empty_from_what_is_not_there() {
        let expect = "name,count,share,holds\nplain,1,0.1,true\n\"a, \"\"b\"\"\nc\",2,,false\n,3,-0.000000001,true\n\"\",4,-0.5,false\n";
        assert_eq!(example().to_csv(), expect);
    }

    #[test]
    fn latex_has_no_commands_from_text() {
        let text = example().to_latex(2);
        for part in [
            "\\caption{A\\_b \\& 5 \\% of it}",
            "\\begin{tabular}{lrrr}",
            "name & count & share & holds \\\\",
            "plain & 1 & 0.10 & yes \\\\",
            "a, \\textquotedbl{}b\\textquotedbl{} c & 2 & --- & no \\\\",
            "--- & 3 & 0.00 & yes \\\\",
            " & 4 & $-$0.50 & no \\\\",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(latex("a--b-\\c{}"), "a-{}-b-\\textbackslash{}c\\{\\}");
    }

    #[test]
    #[should_panic(expected = "example.more: 1 of 4 rows")]
    fn columns_are_equally_long() {
        _ = example().truth("more", [true]);
    }
}
