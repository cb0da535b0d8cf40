//! A Pareto set and its front as text and as a picture.

use std::fmt::Write;

use crate::tune::{Front, REWARDS};

const CSS: &str = include_str!("front.css");
const MARGIN: f64 = 28.0;
/// The space between two axes, and how long an axis is.
const APART: f64 = 56.0;
const LONG: f64 = 190.0;
/// The space above the first axes, and for the names below axes.
const HEAD: f64 = 72.0;
const NAMES: f64 = 150.0;

impl Front {
    /// Returns all as JSON.
    ///
    /// # Errors
    /// None: it is plain data.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// Returns a line for each candidate, below the names of rewards and objectives.
    pub fn to_csv(&self) -> String {
        let names = REWARDS.iter().map(|name| (*name).to_owned());
        let objectives = self.objectives.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
        let head: Vec<String> = names.chain(["tradeoff".to_owned(), "mean".to_owned()]).chain(objectives).collect();
        let mut csv = head.join(",");
        csv.push('\n');
        for candidate in &self.candidates {
            let numbers = candidate.rewards.iter().chain([&candidate.tradeoff, &candidate.mean]);
            let cells: Vec<String> = numbers.chain(&candidate.scores).map(f64::to_string).collect();
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
        csv
    }

    /// Returns a picture: parallel coordinates of the rewards, and beneath them of the scores, with a line for each
    /// candidate. The one with the highest mean is set off.
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a text never fails.
        _ = self.draw(&mut svg);
        svg
    }

    fn draw(&self, svg: &mut String) -> std::fmt::Result {
        let tradeoff_max = self.candidates.iter().map(|candidate| candidate.tradeoff).fold(1.0, f64::max);
        let tradeoff = format!("tradeoff, to {tradeoff_max:.1}");
        let names = REWARDS.map(|name| name.replace('_', " "));
        let rewards: Vec<&str> = names.iter().map(String::as_str).chain([&*tradeoff]).collect();
        let scores: Vec<&str> = self.objectives.iter().map(String::as_str).collect();
        let columns = rewards.len().max(scores.len()).max(2) as f64;
        let width = 2.0 * MARGIN + (columns - 1.0) * APART + NAMES / 2.0;
        let second = HEAD + LONG + NAMES + 34.0;
        let height = second + LONG + NAMES;
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"Pareto set and front\">\n<style>{CSS}</style>"
        )?;
        writeln!(svg, "<rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>")?;
        let count = self.candidates.len();
        writeln!(svg, "<text class=\"title\" x=\"{MARGIN}\" y=\"26\">Rewards that no others dominate</text>")?;
        let said = format!("{count} candidates; the one with the highest mean score is set off");
        writeln!(svg, "<text x=\"{MARGIN}\" y=\"44\">{said}</text>")?;
        writeln!(svg, "<text x=\"{MARGIN}\" y=\"{:.0}\">rewards, from 0 to 1</text>", HEAD - 10.0)?;
        writeln!(svg, "<text x=\"{MARGIN}\" y=\"{:.0}\">mean scores, from 0 to 100</text>", second - 10.0)?;
        axes(svg, &rewards, HEAD)?;
        axes(svg, &scores, second)?;
        for (place, candidate) in self.candidates.iter().enumerate().rev() {
            let class = if place == 0 { "line best" } else { "line" };
            let tradeoff = candidate.tradeoff / tradeoff_max;
            let rewards: Vec<f64> = candidate.rewards.iter().copied().chain([tradeoff]).collect();
            let scores: Vec<f64> = candidate.scores.iter().map(|score| score / 100.0).collect();
            writeln!(svg, "<g><title>mean score {:.2}</title>", candidate.mean)?;
            for (shares, top) in [(rewards, HEAD), (scores, second)] {
                let point = |(at, share): (usize, f64)| format!("{:.1},{:.1}", across(at), top + LONG * (1.0 - share));
                let points: Vec<String> = shares.into_iter().enumerate().map(point).collect();
                writeln!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "))?;
            }
            writeln!(svg, "</g>")?;
        }
        writeln!(svg, "</svg>")
    }
}

fn across(at: usize) -> f64 {
    MARGIN + at as f64 * APART
}

/// Draws axes with their names below them.
fn axes(svg: &mut String, names: &[&str], top: f64) -> std::fmt::Result {
    for (at, name) in names.iter().enumerate() {
        let (x, end) = (across(at), top + LONG);
        let name = escaped(name);
        writeln!(svg, "<path class=\"axis\" d=\"M{x:.1} {top:.1}V{end:.1}\"/>")?;
        let below = end + 12.0;
        writeln!(svg, "<text transform=\"translate({x:.1} {below:.1}) rotate(50)\">{name}</text>")?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::Candidate;

    fn front() -> Front {
        let candidate = |mean, scores| Candidate { rewards: [0.25; 8], tradeoff: 2.0, mean, scores };
        Front {
            objectives: vec!["a <b>: states".to_owned(), "a \"b\": paths".to_owned()],
            candidates: vec![candidate(60.0, vec![100.0, 20.0]), candidate(50.0, vec![0.0, 100.0])],
        }
    }

    #[test]
    fn the_table_has_a_line_for_each_candidate() {
        let csv = front().to_csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].ends_with("assertion_failed,tradeoff,mean,\"a <b>: states\",\"a \"\"b\"\": paths\""), "{csv}");
        assert_eq!(lines[1..], ["0.25,".repeat(8) + "2,60,100,20", "0.25,".repeat(8) + "2,50,0,100"]);
    }

    #[test]
    fn the_picture_is_xml_and_places_are_shares() {
        let svg = front().to_svg();
        let document = roxmltree::Document::parse(&svg).expect("it is XML");
        let lines: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("polyline"))
            .filter_map(|node| node.attribute("points"))
            .collect();
        let top = HEAD + LONG + NAMES + 34.0;
        // The best one comes last, so that it is on top.
        let [first, second] = [[0.0, 1.0], [1.0, 0.2]].map(|shares| {
            let points = shares.iter().enumerate();
            let points = points.map(|(at, share)| format!("{:.1},{:.1}", across(at), top + LONG * (1.0 - share)));
            points.collect::<Vec<_>>().join(" ")
        });
        assert_eq!((lines.len(), lines[1], lines[3]), (4, &*first, &*second));
    }

    #[test]
    fn json_has_what_the_front_has() {
        let json: serde_json::Value =
            serde_json::from_str(&front().to_json().expect("it is plain")).expect("it is JSON");
        assert_eq!(json["candidates"][0]["rewards"][7], 0.25);
        assert_eq!(json["objectives"][0], "a <b>: states");
    }
}
