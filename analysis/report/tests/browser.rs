//! The report in a real browser: its scripts work, in light and in dark, and are fast on a large campaign.
//!
//! Needs Chromium; `cargo xtask test` installs it and runs these tests.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use simutant_analysis::{AnalysisOptions, analyse};
use simutant_outcomes::{BitSet, Execution, Outcomes, RunEnd};
use simutant_report::{Explanation, MutantPage, Operators, Pages, Parting, report, report_with_pages};
use simutant_synthetic::synthetic;

/// What the browser is called.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Opens the report of `outcomes`, runs `script` in it, which returns an object, and returns that.
#[track_caller]
fn probe(outcomes: &Outcomes, script: &str, options: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    let analysis =
        analyse(outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes");
    let probe = format!(
        "<script>(() => {{ let found; try {{ found = (() => {{ {script} }})(); }} catch (error) {{ found = {{ error: error.stack }}; }}\n\
         document.documentElement.dataset.probe = btoa(JSON.stringify(found)); }})();</script></body>"
    );
    std::fs::write(&path, report(outcomes, &analysis, None).replace("</body>", &probe)).expect("room");
    let dom = dump(&path, options);
    let encoded = dom.split("data-probe=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the script ran");
    let found: Value = serde_json::from_slice(&decoded(encoded)).expect("JSON");
    assert_eq!(found.get("error"), None, "{found}");
    found
}

/// Returns the page as it stands when its scripts have run.
fn dump(path: &Path, options: &[&str]) -> String {
    let profile = tempfile::tempdir().expect("a temporary folder");
    for browser in BROWSERS {
        let mut command = Command::new(browser);
        // Only our own page is opened, and root has no sandbox.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1250,900", "--dump-dom"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).args(options);
        match command.arg(format!("file://{}", path.display())).output() {
            Ok(output) => return String::from_utf8(output.stdout).expect("a page is text"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => panic!("{browser}: {error}"),
        }
    }
    panic!("there is no browser; install chromium");
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).expect("Base64")
}

/// Has as many mutants as asked for: those that there are, again and again.
fn with_mutants(mut outcomes: Outcomes, count: usize) -> Outcomes {
    let there = outcomes.sites.mutants.len();
    for number in there..count {
        let mut mutant = outcomes.sites.mutants[number % there].clone();
        mutant.identity = format!("{number:016x}");
        outcomes.sites.mutants.push(mutant);
        outcomes.kills.push(outcomes.kills[number % there].clone());
        outcomes.verdicts.push(outcomes.verdicts[number % there]);
        outcomes.causes.push(outcomes.causes[number % there].clone());
        outcomes.diverged.push(outcomes.diverged[number % there].clone());
        outcomes.reasons.push(outcomes.reasons[number % there].clone());
    }
    for case in &mut outcomes.cases {
        for set in [&mut case.reached, &mut case.infected] {
            let again: Vec<usize> = (0..count).filter(|number| set.contains(number % there)).collect();
            let mut grown = BitSet::with_capacity(count);
            grown.extend(again);
            *set = grown;
        }
    }
    outcomes
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn the_matrix_is_drawn_sorted_and_walked_through() {
    let outcomes = synthetic(100, 1);
    let found = probe(
        &outcomes,
        "const canvas = document.getElementById('matrix-canvas');
         const cell = () => document.getElementById('matrix-cell').textContent;
         const ink = () => {
           const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
           let count = 0;
           for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
           return count / (canvas.width * canvas.height);
         };
         const first = cell(), cells = Number(canvas.dataset.cells), before = ink();
         canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
         const right = cell();
         const set = (name, value) => {
           const input = document.getElementById(`matrix-${name}`);
           if (input.type === 'checkbox') input.checked = value; else input.value = value;
           input.dispatchEvent(new Event('input', { bubbles: true }));
         };
         set('killed', true);
         set('rows', 'kills');
         const fewest = cell();
         document.getElementById('matrix-in').click();
         canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
         return { first, cells, before, right, fewest, hash: location.hash };",
        &[],
    );
    assert_eq!(found["cells"].as_u64(), Some(100 * outcomes.kills.len() as u64), "{found}");
    let kills: Vec<usize> = outcomes.kills.iter().map(|kills| kills.count_ones(..)).collect();
    let says = |key: &str| found[key].as_str().expect("text").to_owned();
    let verb = |killed: bool| if killed { "kills it" } else { "does not kill it" };
    assert!(says("first").starts_with("mutant 0,"), "{found}");
    assert!(says("first").contains(&format!("arq-0000 {};", verb(outcomes.kills[0].contains(0)))), "{found}");
    assert!(says("right").contains(&format!("arq-0001 {};", verb(outcomes.kills[0].contains(1)))), "{found}");
    let least = kills.iter().copied().filter(|&count| count > 0).min().expect("some mutant is killed");
    let fewest = kills.iter().position(|&count| count == least).expect("it is there");
    assert!(says("fewest").starts_with(&format!("mutant {fewest},")), "{found}");
    assert!(says("fewest").contains(&format!("; {least} test cases do")), "{found}");
    assert_eq!(says("hash"), format!("#m{fewest}"));
    // About as much of the picture is filled as of the matrix.
    let filled = kills.iter().sum::<usize>() as f64 / (100 * kills.len()) as f64;
    let drawn = found["before"].as_f64().expect("a number");
    assert!((drawn - filled).abs() < 0.1, "{drawn} of the picture is filled, {filled} of the matrix");
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn light_and_dark_are_what_the_reader_asks_for() {
    let outcomes = synthetic(40, 1);
    let page = |options: &[&str]| {
        let script = "return { page: getComputedStyle(document.body).backgroundColor };";
        probe(&outcomes, script, options)["page"].as_str().expect("a colour").to_owned()
    };
    assert_eq!(page(&[]), "rgb(251, 251, 253)");
    assert_eq!(page(&["--blink-settings=preferredColorScheme=0"]), "rgb(18, 21, 27)");
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn a_large_campaign_is_no_slower_to_read_than_to_open() {
    let outcomes = with_mutants(synthetic(2500, 1), 1000);
    let found = probe(
        &outcomes,
        "const time = (action) => { const begun = performance.now(); action(); return performance.now() - begun; };
         const rows = document.getElementById('matrix-rows');
         const sort = time(() => { rows.value = 'kills'; rows.dispatchEvent(new Event('input', { bubbles: true })); });
         const zoom = time(() => document.getElementById('matrix-in').click());
         const text = document.getElementById('filter-text');
         const filter = time(() => { text.value = 'ror'; text.dispatchEvent(new Event('input', { bubbles: true })); });
         return { sort, zoom, filter, cells: document.getElementById('matrix-canvas').dataset.cells, open: performance.now() };",
        &[],
    );
    assert_eq!(found["cells"], "2500000");
    // Half a second is what a reader takes for at once on a machine that does something else as well; each takes a
    // tenth of it.
    for action in ["sort", "zoom", "filter"] {
        assert!(found[action].as_f64().is_some_and(|ms| ms < 500.0), "{found}");
    }
    assert!(found["open"].as_f64().is_some_and(|ms| ms < 10_000.0), "{found}");
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn without_scripts_the_tables_are_there_and_what_needs_them_is_hidden() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    let outcomes = synthetic(40, 1);
    let analysis =
        analyse(&outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes");
    // The browser is asked not to run any script of the page.
    let policy = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">";
    std::fs::write(&path, report(&outcomes, &analysis, None).replacen("<head>", policy, 1)).expect("room");
    let dom = dump(&path, &[]);
    assert!(!dom.contains("data-cells"), "a script ran");
    for form in ["matrix", "filter"] {
        assert!(dom.contains(&format!("<form id=\"{form}\" hidden")), "the form {form} is hidden");
    }
    assert_eq!(dom.matches("<tr id=\"m").count(), outcomes.kills.len(), "every mutant is listed");
}

/// How wide a page is in a window of `width` pixels, without the bar to scroll it.
#[track_caller]
fn width_of(page: &str, width: u32) -> u64 {
    measured(page, width, "page.scrollWidth + page.ownerDocument.defaultView.innerWidth - page.clientWidth")
}

/// What an expression is of the root `page` of a page in a window of `width` pixels: a number of them.
#[track_caller]
fn measured(page: &str, width: u32, expression: &str) -> u64 {
    // A window of the browser is never as narrow as a phone, a frame can be.
    let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
    let script = format!(
        "onload = () => {{ const page = document.querySelector('iframe').contentDocument.documentElement;
        document.body.dataset.probe = Math.round({expression}); }}"
    );
    let frame = format!(
        "<!DOCTYPE html><body><iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{escaped}\"></iframe>\
         <script>{script}</script></body>"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("frame.html");
    std::fs::write(&path, frame).expect("room");
    let dom = dump(&path, &["--virtual-time-budget=10000"]);
    let probed = dom.split("data-probe=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the script ran");
    probed.parse().expect("a number of pixels")
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn text_fills_its_card_and_the_navigation_takes_few_lines() {
    let outcomes = synthetic(40, 1);
    let analysis =
        analyse(&outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes");
    let page = report(&outcomes, &analysis, None);
    for width in [390, 1400] {
        // Of the right edge of the text, how far it is from that of what it is in.
        let short = "(() => { const box = page.querySelector('#overview'); const style = getComputedStyle(box);
            const inner = box.getBoundingClientRect().right - parseFloat(style.paddingRight);
            const text = [...box.querySelectorAll('p')].flatMap(p => { const range = new Range(); range.selectNodeContents(p); return [...range.getClientRects()]; });
            return inner - Math.max(...text.map(line => line.right)); })()";
        let short = measured(&page, width, short);
        assert!(short < 100, "at {width}, text ends {short} pixels before its card");
        let lines = "page.querySelector('nav').getBoundingClientRect().height / parseFloat(getComputedStyle(page.querySelector('nav a')).fontSize)";
        let lines = measured(&page, width, lines);
        assert!(lines <= 6, "at {width}, the navigation is as high as {lines} letters");
    }
}

/// As many criteria as the largest system has, with names as long as theirs.
#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn no_table_of_a_wide_window_is_cut_off() {
    let mut outcomes = synthetic(40, 1);
    for number in 0..9 {
        let mut criterion = outcomes.criteria[number % 4].clone();
        criterion.name = format!("send-receive-pairs-{number}");
        outcomes.criteria.push(criterion);
    }
    let analysis =
        analyse(&outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes");
    let script = "<script>onload = () => { document.body.dataset.probe = [...document.querySelectorAll('section > details, section > div > details')]
        .map(details => details.open = true).length && [...document.querySelectorAll('.scroll')]
        .filter(table => table.scrollWidth > table.clientWidth).map(table => table.closest('section').id).join(' '); }</script>";
    let page = report(&outcomes, &analysis, None).replace("</body>", &format!("{script}</body>"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    std::fs::write(&path, page).expect("room");
    let dom = dump(&path, &["--virtual-time-budget=10000", "--window-size=1400,900"]);
    let cut = dom.split("data-probe=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the script ran");
    assert_eq!(cut, "", "sections with tables that are cut off");
}

#[test]
#[ignore = "needs a browser: cargo xtask test installs one and runs this"]
fn no_page_is_wider_than_its_window() {
    let outcomes = synthetic(40, 1);
    let analysis =
        analyse(&outcomes, &AnalysisOptions { resamples: 200, ..AnalysisOptions::default() }).expect("sound outcomes");
    let long = format!("at 0.017 s, a packet was dropped: {}", "Acknowledgement{sequence:3}".repeat(9));
    let picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"90\"/>";
    let explanation = Explanation {
        case: serde_json::json!({ "votes": vec![true; 90], "seed": u64::MAX }),
        number: Some(3),
        execution: Execution { verdict: RunEnd::Passed, cause: None, reason: String::new(), events: 7, steps: 7 },
        reached: true,
        parting: Some(Parting {
            event: 2,
            before: Some(long.clone()),
            original: Some(long.clone()),
            mutant: Some(long),
        }),
        pictures: Some([picture.to_owned(), picture.to_owned()]),
        diagrams: None,
        replay: format!("simutant simulate arq --case {}", "0123456789".repeat(20)),
    };
    let title = "the relational operator becomes another one, or the relation a constant".repeat(2);
    let codes = outcomes.sites.mutants.iter().map(|mutant| (mutant.operator.as_str(), title.as_str()));
    let titles: Vec<(&str, &str)> = codes.collect();
    let operators = Operators { titles: &titles };
    let mutant = MutantPage {
        sites: &outcomes.sites,
        mutant: 0,
        outcomes: Some(&outcomes),
        judgement: None,
        explanation: Some(&explanation),
        previous: Some(0),
        next: Some(1),
        judge: Some("simutant judge arq 0000000000000000 equivalent --reason 'WHY'"),
        operators,
    };
    let pages = Pages { operators, ..Pages::default() };
    for (name, page) in [("report", report_with_pages(&outcomes, &analysis, None, pages)), ("mutant", mutant.html())] {
        for width in [390, 1400] {
            assert_eq!(width_of(&page, width), u64::from(width), "{name}");
        }
    }
}
