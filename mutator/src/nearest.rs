//! What somebody may have meant who mistyped a name.

/// Returns the known name that fewest changes of a letter lead to, if they are few; case makes no difference.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let known = known.into_iter().map(|known| (distance(&name, &known.to_lowercase()), known));
    let (changes, nearest) = known.min()?;
    (changes <= 2 && changes < name.len()).then_some(nearest)
}

/// Returns how many letters are to be put in, taken out or replaced (Levenshtein, Soviet Physics Doklady 10, 1966).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (at, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_known_is_recognised() {
        let known = || ["register", "queue", "set"];
        assert_eq!(nearest("registre", known()), Some("register"));
        assert_eq!(nearest("Quue", known()), Some("queue"));
        assert_eq!(nearest("tickets", known()), None);
        assert_eq!(nearest("x", known()), None, "every name of one letter would be near");
        assert_eq!(nearest("set", []), None);
    }
}
