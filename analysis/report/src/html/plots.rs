//! The drawings of the report as pictures of their own.

use simutant_analysis::{Reference, Study};

use super::{Page, STYLE, curve, distributions, order};

/// The fonts that the page has around a drawing.
const FONTS: &str = "svg { font-family: system-ui, -apple-system, \"Segoe UI\", sans-serif; background: #fff; }";

/// A drawing as a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Its name: lower case, without spaces, no two have the same.
    pub name: String,
    /// The SVG document: light, self-contained, with styles that every renderer knows.
    pub svg: String,
}

/// Returns the drawings of the report: `size-and-score`, `order`, `order-NAME` for an earlier experiment called so, and
/// `distribution-CRITERION` for each criterion with scores.
pub fn plots(study: &Study<'_>, reference: Option<&Reference>) -> Vec<Plot> {
    let page = Page::new(study.outcomes, study.analysis, reference);
    let mut drawn = vec![("size-and-score".to_owned(), curve::figure(study.analysis).into_string())];
    let names = ["order".to_owned()].into_iter().chain(reference.map(|there| format!("order-{}", there.name)));
    drawn.extend(names.zip(order::graphs(&page)).map(|(name, graph)| (name, graph.into_string())));
    let figures =
        distributions::figures(&study.analysis.criteria, study.analysis.mutants.counts.analysed, "mutant score");
    drawn.extend(figures.into_iter().map(|(criterion, figure)| {
        let letters = criterion.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
        (format!("distribution-{}", letters.collect::<String>()), figure.into_string())
    }));
    // Where there is nothing to draw, the report has a sentence.
    drawn.into_iter().filter_map(|(name, html)| Some(Plot { svg: document(&html)?, name })).collect()
}

/// Returns the drawing in a piece of the page as a document.
fn document(html: &str) -> Option<String> {
    let start = html.find("<svg")?;
    let end = html.rfind("</svg>")? + "</svg>".len();
    let (head, rest) = html[start..end].split_once('>')?;
    let size = head.split("viewBox=\"0 0 ").nth(1)?.split('"').next()?;
    let (width, height) = size.split_once(' ')?;
    let head = head.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    let style = style();
    Some(format!("{head} width=\"{width}\" height=\"{height}\"><style>{style}</style>{rest}\n"))
}

/// The page's rules for drawings, with the colours of its light form in the place of their names: few renderers but
/// browsers know variables.
fn style() -> String {
    let root = STYLE.split_once(":root {").and_then(|(_, rest)| rest.split_once('}')).map_or("", |(root, _)| root);
    let colours = root.split(';').filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    let is_of_drawings = |rule: &&str| rule.starts_with("svg ") && !rule.starts_with("svg {");
    let rules = STYLE.lines().flat_map(|line| line.split_inclusive('}')).map(str::trim).filter(is_of_drawings);
    let mut rules = rules.collect::<Vec<_>>().join(" ");
    for (name, colour) in colours {
        rules = rules.replace(&format!("var(--{name})"), colour);
    }
    format!("{FONTS} {rules}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::{from_kills, synthetic};

    fn drawn(outcomes: &simutant_outcomes::Outcomes) -> Vec<Plot> {
        let options = AnalysisOptions { suites: 10, resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(outcomes, &options).expect("sound outcomes");
        plots(&Study::new(outcomes, &analysis, None).expect("they belong together"), None)
    }

    #[test]
    fn every_drawing_is_a_document_of_its_own() {
        let plots = drawn(&synthetic(60, 1));
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        let criteria = ["all-blocks", "all-branches", "IP-1", "IP-2"].map(|name| format!("distribution-{name}"));
        assert_eq!(names[..2], ["size-and-score", "order"]);
        assert_eq!(names[2..], criteria);
        for Plot { name, svg } in &plots {
            let document = roxmltree::Document::parse(svg).expect("well-formed");
            let root = document.root_element();
            assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"), "{name}");
            let view = format!(
                "0 0 {} {}",
                root.attribute("width").expect("it has"),
                root.attribute("height").expect("it has")
            );
            assert_eq!(root.attribute("viewBox"), Some(view.as_str()));
            assert!(svg.contains("svg .rule { stroke: #e3e7ee; }"), "the rules of the page are there: {svg}");
            for unknown in ["var(", "@media", "url(", "NaN"] {
                assert!(!svg.contains(unknown), "{name} has {unknown}");
            }
        }
    }

    #[test]
    fn where_there_are_no_scores_nothing_is_drawn() {
        assert_eq!(drawn(&from_kills(&["....", "kkkk"])), []);
    }
}
