//! Words of a command line.

/// Returns a text as a shell takes it for one word.
pub fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,+@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_what_was_quoted() {
        let words = ["", "a", "it's here", "{\"seed\": 1}", "$HOME `ls` \\ \"!\"", "*.rs;\n#~", "ü", "A=20%,b:c@d+e"];
        let line = words.map(quoted).join(" ");
        let printed =
            Command::new("sh").args(["-c", &format!("printf '%s\\0' {line}")]).output().expect("a shell is there");
        let read: Vec<String> =
            String::from_utf8(printed.stdout).expect("text").split_terminator('\0').map(str::to_owned).collect();
        assert_eq!(read, words);
        assert_eq!(quoted("A=20%,b:c@d+e"), "A=20%,b:c@d+e", "what is plain stays readable");
    }
}
