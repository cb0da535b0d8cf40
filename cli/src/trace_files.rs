//! The files that `simulate` writes of a trace, `check` of a history, and `explore` of a net. Their extensions say what they are.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use simutant_nets::Structure;
use simutant_nets::exploring::Explored;
use simutant_sim_core::trace::Trace;
use simutant_traces::diagram::{self, Caption};
use simutant_traces::history::{self, Picture};
use simutant_traces::{json_lines, nets, pcapng, perfetto};

use crate::exit::BadInput;
use crate::explore::DRAWN_MAX;
use crate::output;

/// A file for `--diagram` and `--picture`.
#[derive(Debug, Clone)]
pub(crate) struct DiagramFile {
    path: PathBuf,
    form: DiagramForm,
}

#[derive(Debug, Clone, Copy)]
enum DiagramForm {
    Html,
    Svg,
}

/// A file for `--trace-file`.
#[derive(Debug, Clone)]
pub(crate) struct TraceFile {
    path: PathBuf,
    form: TraceForm,
}

#[derive(Debug, Clone, Copy)]
enum TraceForm {
    JsonLines,
    PcapNg,
    Perfetto,
}

/// A name from which the kind of a file does not follow.
#[derive(Debug, thiserror::Error)]
#[error("its name must end in {0}")]
pub(crate) struct UnknownExtension(&'static str);

impl FromStr for DiagramFile {
    type Err = UnknownExtension;

    fn from_str(name: &str) -> Result<Self, UnknownExtension> {
        let forms = [(".html", DiagramForm::Html), (".svg", DiagramForm::Svg)];
        let expected = ".html (a page to look around in) or .svg (a picture to print)";
        let form = form_of(name, &forms).ok_or(UnknownExtension(expected))?;
        Ok(Self { path: name.into(), form })
    }
}

impl FromStr for TraceFile {
    type Err = UnknownExtension;

    fn from_str(name: &str) -> Result<Self, UnknownExtension> {
        let forms =
            [(".jsonl", TraceForm::JsonLines), (".pcapng", TraceForm::PcapNg), (".perfetto.json", TraceForm::Perfetto)];
        let expected = ".jsonl (an event a line), .pcapng (for Wireshark) or .perfetto.json (for ui.perfetto.dev)";
        let form = form_of(name, &forms).ok_or(UnknownExtension(expected))?;
        Ok(Self { path: name.into(), form })
    }
}

/// A file for the picture of a state space.
#[derive(Debug, Clone)]
pub(crate) struct StateSpaceFile {
    path: PathBuf,
    form: SpaceForm,
}

#[derive(Debug, Clone, Copy)]
enum SpaceForm {
    Html,
    Svg,
    Dot,
}

/// A file for the picture of a net.
#[derive(Debug, Clone)]
pub(crate) struct NetFile {
    path: PathBuf,
    form: NetForm,
}

#[derive(Debug, Clone, Copy)]
enum NetForm {
    Svg,
    Dot,
}

impl FromStr for StateSpaceFile {
    type Err = UnknownExtension;

    fn from_str(name: &str) -> Result<Self, UnknownExtension> {
        let forms = [(".html", SpaceForm::Html), (".svg", SpaceForm::Svg), (".dot", SpaceForm::Dot)];
        let expected = ".html (a page, with the net), .svg (a picture) or .dot (for Graphviz)";
        let form = form_of(name, &forms).ok_or(UnknownExtension(expected))?;
        Ok(Self { path: name.into(), form })
    }
}

impl FromStr for NetFile {
    type Err = UnknownExtension;

    fn from_str(name: &str) -> Result<Self, UnknownExtension> {
        let forms = [(".svg", NetForm::Svg), (".dot", NetForm::Dot)];
        let form = form_of(name, &forms).ok_or(UnknownExtension(".svg (a picture) or .dot (for Graphviz)"))?;
        Ok(Self { path: name.into(), form })
    }
}

impl StateSpaceFile {
    /// Writes the picture of a state space; one that is too large to be drawn is a page without the picture, or none.
    pub(crate) fn write(&self, explored: &Explored) -> anyhow::Result<()> {
        let text = match (self.form, &explored.drawing) {
            (SpaceForm::Html, _) => nets::page(explored),
            (SpaceForm::Svg, Some(drawing)) => nets::state_space_svg(drawing),
            (SpaceForm::Dot, Some(drawing)) => drawing.dot(),
            (SpaceForm::Svg | SpaceForm::Dot, None) => {
                let (path, markings) = (self.path.display(), explored.markings);
                let message = format!("{path}: {markings} markings are too many to be drawn; at most {DRAWN_MAX} are");
                return Err(BadInput(message).into());
            }
        };
        output::write_named(&self.path, text.as_bytes())
    }
}

impl NetFile {
    /// Writes the picture of a net.
    pub(crate) fn write(&self, net: &Structure) -> anyhow::Result<()> {
        let text = match self.form {
            NetForm::Svg => nets::net_svg(net),
            NetForm::Dot => net.dot(),
        };
        output::write_named(&self.path, text.as_bytes())
    }
}

/// Returns the form of the file called `name`; an extension alone is no name.
fn form_of<T: Copy>(name: &str, forms: &[(&str, T)]) -> Option<T> {
    let name = Path::new(name).file_name()?.to_str()?.to_ascii_lowercase();
    let ends = |extension: &str| name.len() > extension.len() && name.ends_with(extension);
    forms.iter().find(|(extension, _)| ends(extension)).map(|(_, form)| *form)
}

/// Writes a diagram.
pub(crate) fn write_diagram(file: &DiagramFile, trace: &Trace, caption: &Caption) -> anyhow::Result<()> {
    let text = match file.form {
        DiagramForm::Html => diagram::html(trace, caption),
        DiagramForm::Svg => diagram::svg(trace, caption),
    };
    output::write_named(&file.path, text.as_bytes())
}

/// Writes the picture of a history.
pub(crate) fn write_picture(file: &DiagramFile, picture: &Picture, caption: &Caption) -> anyhow::Result<()> {
    /// How many calls are printed.
    const PRINTED_MAX: usize = 200;
    /// How many calls are printed before and after those of the core, if there are more.
    const NEIGHBOURS: usize = 10;
    let text = match file.form {
        DiagramForm::Html => history::html(picture, caption),
        DiagramForm::Svg if picture.bars.len() <= PRINTED_MAX => history::svg(picture, caption),
        DiagramForm::Svg if picture.stuck.is_some() => history::svg(&picture.excerpt(NEIGHBOURS), caption),
        DiagramForm::Svg => history::svg(&picture.excerpt(PRINTED_MAX), caption),
    };
    output::write_named(&file.path, text.as_bytes())
}

/// Writes a trace.
pub(crate) fn write_trace(file: &TraceFile, trace: &Trace) -> anyhow::Result<()> {
    let bytes = match file.form {
        TraceForm::JsonLines => {
            let mut bytes = Vec::new();
            json_lines::write(trace, &mut bytes)?;
            bytes
        }
        TraceForm::PcapNg => pcapng::write(trace),
        TraceForm::Perfetto => perfetto::write(trace).into_bytes(),
    };
    output::write_named(&file.path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: &str) {
        let shown = match (name.parse::<DiagramFile>(), name.parse::<TraceFile>()) {
            (Ok(file), Err(_)) => format!("{:?}", file.form),
            (Err(_), Ok(file)) => format!("{:?}", file.form),
            (Err(_), Err(_)) => "refused".to_owned(),
            both => format!("{both:?}"),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn extensions_say_what_a_file_is() {
        check("out/a.html", "Html");
        check("a.b.SVG", "Svg");
        check("a.jsonl", "JsonLines");
        check("/tmp/a.pcapng", "PcapNg");
        check("a.perfetto.json", "Perfetto");
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "html", ".html", "a.json", "a.pcap", "a.html/..", ".perfetto.json"] {
            check(name, "refused");
        }
    }
}
