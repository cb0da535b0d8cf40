//! What programs printed in test cases that did not pass.

use simutant_harness::{CaseResult, EndedProcess};

/// How many lines of what programs printed are shown: of one test case that did not pass, or of several together.
pub(super) const LINES_MAX: usize = 10;

/// How many characters of a line are shown.
const CHARACTERS_MAX: usize = 400;

/// Returns the last lines of each stream, `lines_max` in all at most, each after `margin`, and where the others are.
pub(super) fn shown(result: &CaseResult, margin: &str, lines_max: usize) -> String {
    let streams: Vec<Vec<String>> = result.processes.iter().flat_map(EndedProcess::printed).collect();
    let shares = shares(&streams.iter().map(Vec::len).collect::<Vec<_>>(), lines_max);
    let mut is_all =
        result.processes.iter().all(|ended| [&ended.stdout, &ended.stderr].map(|tail| tail.omitted_bytes) == [0, 0]);
    let mut text = String::new();
    for (lines, share) in streams.iter().zip(shares) {
        is_all &= share == lines.len();
        for line in &lines[lines.len() - share..] {
            let line = match line.char_indices().nth(CHARACTERS_MAX) {
                Some((end, _)) => {
                    is_all = false;
                    format!("{} …", &line[..end])
                }
                None => line.clone(),
            };
            text.push_str(&format!("{margin}{line}\n"));
        }
    }
    if !is_all {
        let place = result.log.as_ref().map_or_else(|| "--json has more".to_owned(), |log| log.display().to_string());
        text.push_str(&format!("  log: {place} (above are the last lines)\n"));
    }
    text
}

/// Returns how many lines of each stream are shown: as many of each, as long as there are some.
fn shares(lengths: &[usize], lines_max: usize) -> Vec<usize> {
    let mut shares = vec![0; lengths.len()];
    let mut left = lines_max;
    while left > 0 {
        let before = left;
        for (share, length) in shares.iter_mut().zip(lengths) {
            if left > 0 && *share < *length {
                (*share, left) = (*share + 1, left - 1);
            }
        }
        if left == before {
            break;
        }
    }
    shares
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;
    use simutant_harness::{OutputTail, ProxyCounts};
    use simutant_outcomes::{Finding, Verdict};

    use super::*;

    pub(in crate::test) fn failed(streams: &[(usize, usize)]) -> CaseResult {
        let tail = |lines: usize| OutputTail {
            text: (1..=lines).map(|line| format!("line {line}\n")).collect(),
            omitted_bytes: 0,
        };
        let process = |(number, &(stdout, stderr)): (usize, &(usize, usize))| EndedProcess {
            process: format!("p{number}"),
            exit: None,
            stdout: tail(stdout),
            stderr: tail(stderr),
        };
        let verdict = Verdict::Fail(Finding::wrong_result("no-output", "there is no output file"));
        let processes: Vec<EndedProcess> = streams.iter().enumerate().map(process).collect();
        let (network, log) = (ProxyCounts::default(), "out/logs/a.log");
        let result = json!({
            "name": "a", "case": {}, "verdict": verdict, "processes": processes, "network": network, "duration_ms": 1, "log": log
        });
        serde_json::from_value(result).expect("all that a result needs")
    }

    #[test]
    fn what_is_short_is_shown_as_a_whole() {
        assert_eq!(
            shown(&failed(&[(0, 1), (2, 0)]), "  ", LINES_MAX),
            "  p0 stderr: line 1\n  p1 stdout: line 1\n  p1 stdout: line 2\n"
        );
        assert_eq!(shown(&failed(&[]), "  ", LINES_MAX), "");
    }

    #[test]
    fn of_what_is_long_the_last_lines_are_shown_and_where_the_others_are() {
        let text = shown(&failed(&[(40, 2), (0, 300)]), "  ", LINES_MAX);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 11, "{text}");
        assert_eq!([lines[0], lines[3]], ["  p0 stdout: line 37", "  p0 stdout: line 40"]);
        assert_eq!([lines[4], lines[5]], ["  p0 stderr: line 1", "  p0 stderr: line 2"]);
        assert_eq!([lines[6], lines[9]], ["  p1 stderr: line 297", "  p1 stderr: line 300"]);
        assert_eq!(lines[10], "  log: out/logs/a.log (above are the last lines)");
        // More streams than lines.
        assert_eq!(shown(&failed(&[(1, 1); 8]), "", LINES_MAX).lines().count(), 11);
    }

    #[test]
    fn a_long_line_is_cut_and_what_a_report_leaves_out_is_in_the_file() {
        let mut result = failed(&[(1, 0)]);
        result.processes[0].stdout.text = "é".repeat(3_000);
        let text = shown(&result, "", LINES_MAX);
        assert_eq!((text.lines().count(), text.chars().filter(|character| *character == 'é').count() < 401), (2, true));
        let mut result = failed(&[(1, 0)]);
        result.processes[0].stdout.omitted_bytes = 7;
        result.log = None;
        assert_eq!(
            shown(&result, "", LINES_MAX),
            "p0 stdout: … 7 bytes before …\np0 stdout: line 1\n  log: --json has more (above are the last lines)\n"
        );
    }
}
