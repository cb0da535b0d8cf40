//! Changes of mutants on one line of code.

/// Returns a change on one line, each side cut to so many characters: from the beginning where that shows the first
/// difference, and else from a little before it. What is replaced by nothing is `(deleted)`.
pub(crate) fn shortened(original: &str, replacement: &str, length_max: usize) -> (String, String) {
    const BEFORE: usize = 15;
    const SHOWN_MIN: usize = 10;
    let on_one_line = |code: &str| -> Vec<char> {
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        lines.join(" ").chars().collect()
    };
    let (old, new) = (on_one_line(original), on_one_line(replacement));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let is_shown = old.len().max(new.len()).min(same + SHOWN_MIN) <= length_max;
    let start = if is_shown { 0 } else { same.saturating_sub(BEFORE) };
    let cut = |code: &[char]| -> String {
        let end = code.len().min(start + length_max);
        let shown: String = code[start..end].iter().collect();
        format!("{}{shown}{}", if start > 0 { "… " } else { "" }, if end < code.len() { " …" } else { "" })
    };
    (cut(&old), if new.is_empty() { "(deleted)".into() } else { cut(&new) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(original: &str, replacement: &str, old: &str, new: &str) {
        assert_eq!(shortened(original, replacement, 40), (old.into(), new.into()));
    }

    #[test]
    fn short_changes_are_shown_whole_on_one_line() {
        check("a < b", "a <= b", "a < b", "a <= b");
        check("", "a", "", "a");
        check("one {\n    two\n}", "", "one { two }", "(deleted)");
    }

    #[test]
    fn long_changes_are_cut_around_the_first_difference() {
        let (head, tail) = ("ä".repeat(50), "z".repeat(50));
        let before = "ä".repeat(15);
        check(
            &format!("{head}x{tail}"),
            &format!("{head}y{tail}"),
            &format!("… {before}x{} …", "z".repeat(24)),
            &format!("… {before}y{} …", "z".repeat(24)),
        );
        check(&format!("{head}x"), &head, &format!("… {before}x"), &format!("… {before}"));
        check(
            &format!("abc{tail}"),
            &format!("abd{tail}"),
            &format!("abc{} …", "z".repeat(37)),
            &format!("abd{} …", "z".repeat(37)),
        );
        check(&tail, "", &format!("{} …", "z".repeat(40)), "(deleted)");
    }
}
