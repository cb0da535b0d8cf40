//! The tree of names: what is above what.

/// Returns whether a name is that of the zone's apex, or below it.
pub(super) fn is_within(name: &str, apex: &str) -> bool {
    if apex == "." {
        return true;
    }
    match name.strip_suffix(apex) {
        Some(before) => before.is_empty() || before.ends_with('.'),
        None => false,
    }
}

/// Returns the name with one label less: `None` if it is the root.
pub(super) fn above(name: &str) -> Option<&str> {
    if name == "." {
        return None;
    }
    let (_, above) = name.split_once('.')?;
    if above.is_empty() { Some(".") } else { Some(above) }
}

/// Returns how many labels a name has.
pub(super) fn depth(name: &str) -> usize {
    let mut depth = 0;
    let mut rest = name;
    while let Some(above) = above(rest) {
        depth += 1;
        rest = above;
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_within_itself_and_all_above_it() {
        #[track_caller]
        fn check(name: &str, apex: &str, expect: bool) {
            assert_eq!(is_within(name, apex), expect, "{name} in {apex}");
        }
        check(".", ".", true);
        check("edu.", ".", true);
        check("isi.edu.", "edu.", true);
        check("a.b.isi.edu.", "edu.", true);
        check("edu.", "edu.", true);
        check("edu.", "isi.edu.", false);
        check("lisi.edu.", "isi.edu.", false);
        check("edu.com.", "edu.", false);
        check(".", "edu.", false);
    }

    #[test]
    fn the_root_is_above_all_and_nothing_is_above_it() {
        fn ways(name: &str) -> Vec<&str> {
            std::iter::successors(Some(name), |name| above(name)).collect()
        }
        assert_eq!(ways("a.isi.edu."), ["a.isi.edu.", "isi.edu.", "edu.", "."]);
        assert_eq!(ways("."), ["."]);
        assert_eq!([".", "edu.", "a.isi.edu."].map(depth), [0, 1, 3]);
    }
}
