//! The table of the README that has the operations and responses.

use simutant_zookeeper_histories::{Operation, Response};

const PAGE: &str = include_str!("../../../README.md");

/// Returns the pieces of code in a column of the table.
fn codes(column: usize) -> Vec<&'static str> {
    let from = PAGE.find("| operation | responses |").expect("the page has the table");
    let rows = PAGE[from..].lines().take_while(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|line| line.trim_matches('|').split(" | ").nth(column));
    // Words of a sentence and what stands for anything are no JSON.
    let is_json = |code: &&str| code.starts_with(['{', '"']) && !code.contains('…');
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(is_json).collect()
}

#[test]
fn operations_and_responses_are_written_as_the_readme_has_them() {
    let (operations, responses) = (codes(0), codes(1));
    assert!(operations.len() > 10 && responses.len() > 6, "{operations:?} {responses:?}");
    for operation in operations {
        serde_json::from_str::<Operation>(operation).unwrap_or_else(|error| panic!("{operation}: {error}"));
    }
    for response in responses {
        serde_json::from_str::<Response>(response).unwrap_or_else(|error| panic!("{response}: {error}"));
    }
}
