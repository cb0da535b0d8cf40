//! `cargo xtask bench http`: how many messages and how much time it takes until each of twenty HTTP servers with a mistake is
//! rejected, beside the servers that they are after.

use std::fmt::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::table::aligned;

#[derive(Debug, Args)]
pub(crate) struct HttpArguments {
    /// Draws what is found how soon.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Takes three seeds of twenty-five: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Prints an array of `{fault, label, messages, seconds, li_messages, li_seconds}` instead of a table.
    #[arg(long)]
    json: bool,
}

/// The least, the quartiles and the most of some values.
type Spread = [f64; 5];

/// The faults with the labels of the servers that they are after, and what those took: messages and seconds until they were
/// rejected, 25 times each (Li, "Testing by Dualization", PhD thesis, University of Pennsylvania, 2022, figure 6.2; quartiles by
/// interpolation at midpoints, from the data of that figure).
const FAULTS: [(&str, &str, Spread, Spread); 20] = [
    ("answers-put-as-get", "dav-1", [2.0, 2.0, 4.0, 8.25, 41.0], [0.00281, 0.00433, 0.00783, 0.0151, 0.0593]),
    ("returns-too-early", "core-2", [2.0, 2.0, 4.0, 9.25, 52.0], [0.00351, 0.00516, 0.0088, 0.0199, 0.131]),
    ("says-412-for-200", "http-3", [2.0, 2.0, 6.0, 11.25, 27.0], [0.00361, 0.00752, 0.0142, 0.0329, 0.0678]),
    ("sends-nothing", "core-4", [2.0, 2.0, 4.0, 8.5, 21.0], [0.005, 0.00786, 0.0161, 0.0369, 0.111]),
    ("skips-not-found", "core-5", [2.0, 2.0, 5.0, 13.25, 15062.0], [0.00598, 0.00866, 0.0189, 0.0445, 30.5]),
    ("drops-response-contents", "proxy-6", [4.0, 8.0, 13.0, 18.0, 64.0], [0.0061, 0.0121, 0.0208, 0.0367, 0.108]),
    ("forgets-the-last-piece", "proxy-7", [4.0, 6.0, 9.0, 14.25, 46.0], [0.00512, 0.0141, 0.0259, 0.0339, 0.0891]),
    ("forgets-full-pieces", "core-8", [4.0, 11.75, 19.0, 40.25, 122.0], [0.00654, 0.0234, 0.0363, 0.0762, 0.257]),
    ("misnames-the-tag", "proxy-9", [2.0, 7.5, 18.0, 32.0, 72.0], [0.00477, 0.0202, 0.0392, 0.0667, 0.125]),
    ("drops-request-contents", "proxy-10", [2.0, 8.25, 17.0, 37.75, 71.0], [0.00581, 0.0166, 0.0429, 0.0776, 0.171]),
    ("skips-no-match", "http-11", [4.0, 19.25, 37.0, 51.5, 161.0], [0.00699, 0.0438, 0.0694, 0.116, 0.365]),
    ("says-200-for-412", "http-12", [4.0, 10.75, 37.0, 56.0, 69.0], [0.0061, 0.0188, 0.0737, 0.101, 0.136]),
    ("compares-if-match-weakly", "http-13", [8.0, 23.25, 35.0, 68.25, 364.0], [0.0122, 0.0407, 0.0807, 0.139, 0.82]),
    (
        "compares-if-none-match-strongly",
        "dav-14",
        [4.0, 24.75, 50.0, 81.75, 152.0],
        [0.00649, 0.0399, 0.096, 0.159, 0.344],
    ),
    ("adds-a-byte", "dav-15", [4.0, 13.75, 49.0, 86.75, 150.0], [0.00655, 0.027, 0.13, 0.209, 0.334]),
    ("flips-a-bit", "http-16", [6.0, 42.5, 94.0, 193.75, 320.0], [0.00885, 0.0731, 0.161, 0.407, 0.693]),
    ("drops-the-last-byte", "dav-17", [4.0, 16.25, 37.0, 89.75, 166.0], [0.0168, 0.072, 0.192, 0.443, 1.17]),
    ("says-200-for-304", "http-18", [21.0, 97.5, 135.0, 233.25, 521.0], [0.0396, 0.208, 0.296, 0.443, 1.04]),
    ("writes-beside", "dav-19", [17.0, 243.25, 1672.0, 4818.5, 12684.0], [0.0555, 1.9, 3.98, 13.1, 52.4]),
    ("skips-writes", "dav-20", [27.0, 509.25, 1812.0, 3581.25, 13833.0], [0.0887, 1.82, 4.93, 8.09, 48.8]),
];

/// What was measured of a server.
#[derive(Debug, Clone, Serialize)]
struct Measured {
    fault: &'static str,
    label: &'static str,
    messages: Spread,
    seconds: Spread,
    li_messages: Spread,
    li_seconds: Spread,
}

/// What `simutant http --json` says.
#[derive(Debug, Deserialize)]
struct Tested {
    findings: Vec<Found>,
}

#[derive(Debug, Deserialize)]
struct Found {
    messages: f64,
    seconds: f64,
}

pub(super) fn run(root: &Path, arguments: &HttpArguments) -> anyhow::Result<()> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--release", "--package", "simutant", "--package", "simutant-http-programs"]);
    crate::run(build.current_dir(root))?;
    let programs = crate::target(root).join("release");
    let seeds = if arguments.quick { 3 } else { 25 };
    let mut measured = Vec::new();
    for (fault, label, li_messages, li_seconds) in FAULTS {
        let (server, host) = start(&programs.join("http-server"), fault)?;
        let found = (1..=seeds).map(|seed| first(root, &programs.join("simutant"), &host, seed));
        let found = found.collect::<anyhow::Result<Vec<Found>>>().with_context(|| fault);
        drop(server);
        let found = found?;
        let messages = spread(found.iter().map(|found| found.messages).collect());
        let seconds = spread(found.iter().map(|found| found.seconds).collect());
        measured.push(Measured { fault, label, messages, seconds, li_messages, li_seconds });
    }
    if let Some(file) = &arguments.plot {
        std::fs::write(file, plot(&measured)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&measured)?);
    } else {
        println!("{}", table(&measured));
    }
    Ok(())
}

/// A server that runs, and ends when this is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing to do before it ends.
        _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Starts a server with a fault, and returns it with its host and port.
fn start(program: &Path, fault: &str) -> anyhow::Result<(Server, String)> {
    let host = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.to_string();
    let mut command = Command::new(program);
    let child = command.args(["--listen", &host, "--fault", fault]).stdout(Stdio::null()).spawn();
    let mut server = Server(child.with_context(|| format!("cannot start {}", program.display()))?);
    while TcpStream::connect(&host).is_err() {
        ensure!(server.0.try_wait()?.is_none(), "{} has ended", program.display());
        std::thread::yield_now();
    }
    Ok((server, host))
}

/// Returns the first finding of a server, with one request after the other.
fn first(root: &Path, simutant: &Path, host: &str, seed: u64) -> anyhow::Result<Found> {
    let mut command = Command::new(simutant);
    command.args(["http", "http", &format!("http://{host}"), "--connections", "1", "--scripts", "30", "--json"]);
    let output = command.args(["--seed", &seed.to_string()]).current_dir(root).output()?;
    let tested: Tested = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("simutant http: {}", String::from_utf8_lossy(&output.stderr)))?;
    let first = tested.findings.into_iter().min_by(|one, other| one.messages.total_cmp(&other.messages));
    first.with_context(|| format!("seed {seed}: nothing was found in 600 requests"))
}

/// Returns the least, the quartiles by linear interpolation, and the most.
fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_unstable_by(f64::total_cmp);
    let last = (values.len() - 1) as f64;
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let place = share * last;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        low + (high - low) * place.fract()
    })
}

fn table(measured: &[Measured]) -> String {
    let words = ["fault", "Li's", "median", "most", "Li's median", "Li's most", "ms", "Li's ms"];
    let row = |row: &Measured| {
        let [messages, li] =
            [row.messages, row.li_messages].map(|it| [it[2], it[4]].map(|value| format!("{value:.0}")));
        let ms = [row.seconds[2], row.li_seconds[2]].map(|value| format!("{:.1}", 1e3 * value));
        [[row.fault.to_owned(), row.label.to_owned()], messages, li, ms].concat()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(words.map(str::to_owned).to_vec()).chain(measured.iter().map(row)).collect();
    aligned(&rows)
}

const ROW: f64 = 26.0;
const TOP: f64 = 64.0;
/// Where the names of faults end, and the first panel begins.
const LEFT: f64 = 316.0;

/// A panel: where it begins, its title, the exponents of its axis, and what it shows of a server.
struct Panel {
    left: f64,
    title: &'static str,
    exponents: (i32, i32),
    of: fn(&Measured) -> [Spread; 2],
}

const PANEL_WIDTH: f64 = 280.0;

/// Draws a box for each server, from the first to the third quartile with a line at the median, and whiskers to the least and
/// the most: ours above Li's.
fn plot(measured: &[Measured]) -> String {
    let panels = [
        Panel {
            left: LEFT,
            title: "messages until the finding",
            exponents: (0, 5),
            of: |row| [row.messages, row.li_messages],
        },
        Panel {
            left: LEFT + PANEL_WIDTH + 60.0,
            title: "seconds",
            exponents: (-4, 2),
            of: |row| [row.seconds, row.li_seconds],
        },
    ];
    let bottom = TOP + ROW * measured.len() as f64;
    let (width, height) = (LEFT + 2.0 * PANEL_WIDTH + 90.0, bottom + 34.0);
    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("a string takes all");
    line(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" role="img" aria-label="Messages and seconds until twenty HTTP servers with a mistake are rejected">"##
    ));
    line(format_args!(r##"<rect width="{width}" height="{height}" fill="#fff"/>"##));
    for (index, (name, colour)) in SERIES.into_iter().enumerate() {
        let left = LEFT + 130.0 * index as f64;
        line(format_args!(
            r##"<rect x="{left}" y="12" width="18" height="8" fill="{colour}"/><text x="{}" y="21">{name}</text>"##,
            left + 24.0
        ));
    }
    for (number, row) in measured.iter().enumerate() {
        let y = TOP + ROW * number as f64 + ROW / 2.0;
        line(format_args!(
            r##"<text x="{}" y="{:.1}" text-anchor="end">{} ({})</text>"##,
            LEFT - 14.0,
            y + 4.5,
            row.fault,
            row.label
        ));
    }
    for Panel { left, title, exponents: (from, to), of } in panels {
        let x = |value: f64| left + (value.log10() - f64::from(from)) / f64::from(to - from) * PANEL_WIDTH;
        line(format_args!(r##"<text x="{:.1}" y="48" text-anchor="middle">{title}</text>"##, left + PANEL_WIDTH / 2.0));
        for exponent in from..=to {
            let at = x(10_f64.powi(exponent));
            let power = 10_f64.powi(exponent);
            line(format_args!(
                r##"<path d="M{at:.1} {TOP}V{bottom}" stroke="#ddd"/><text x="{at:.1}" y="{:.1}" text-anchor="middle" fill="#444">{power}</text>"##,
                bottom + 18.0
            ));
        }
        for (number, row) in measured.iter().enumerate() {
            for (index, ([least, first, median, third, most], (name, colour))) in
                of(row).into_iter().zip(SERIES).enumerate()
            {
                let y = TOP + ROW * number as f64 + 5.0 + 9.0 * index as f64;
                let middle = y + 3.5;
                line(format_args!(
                    r##"<g><title>{name}, {}: {least} to {most}, median {median}</title><path d="M{:.1} {middle:.1}H{:.1}" stroke="{colour}"/><rect x="{:.1}" y="{y:.1}" width="{:.1}" height="7" fill="{colour}"/><path d="M{:.1} {y:.1}v7" stroke="#fff" stroke-width="2"/></g>"##,
                    row.fault,
                    x(least),
                    x(most),
                    x(first),
                    (x(third) - x(first)).max(1.5),
                    x(median)
                ));
            }
        }
    }
    line(format_args!("</svg>"));
    svg
}

const SERIES: [(&str, &str); 2] = [("simutant", "#0b6e99"), ("Li (2022)", "#b4530a")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_between_the_values() {
        assert_eq!(spread(vec![4.0, 1.0, 2.0, 3.0, 10.0]), [1.0, 2.0, 3.0, 4.0, 10.0]);
        assert_eq!(spread(vec![1.0, 2.0]), [1.0, 1.25, 1.5, 1.75, 2.0]);
    }

    #[test]
    fn spreads_are_in_order() {
        for (fault, _, messages, seconds) in FAULTS {
            assert!(messages.is_sorted() && seconds.is_sorted(), "{fault}");
        }
    }
}
