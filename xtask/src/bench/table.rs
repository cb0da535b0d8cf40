//! The measurements as tables in Markdown, as they stand in the book's page of benchmarks.

use super::{Engine, Measurement, Workload};

/// Returns a table of ratios and one of memory, with an engine a row.
pub(super) fn tables(measurements: &[Measurement]) -> String {
    let ratios = table("ratio to the bare loop", measurements, |measurement| format!("{:.2}", measurement.ratio));
    let memory = table("peak memory, MB", measurements, |measurement| {
        measurement.peak_memory_bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6))
    });
    format!("{ratios}\n{memory}")
}

/// Returns a table with the workloads that were measured as columns. The first row is what a unit costs in the bare
/// loop.
fn table(title: &str, measurements: &[Measurement], cell: impl Fn(&Measurement) -> String) -> String {
    let of = |workload: Workload| {
        measurements.iter().filter(move |measurement| {
            (measurement.workload, measurement.n, measurement.timeout_ms)
                == (workload.kind, workload.n, workload.timeout_ms)
        })
    };
    let workloads: Vec<Workload> = Workload::all().filter(|&workload| of(workload).next().is_some()).collect();
    let engines = Engine::ALL.into_iter().filter(|&engine| measurements.iter().any(|row| row.engine == engine));
    let mut rows = vec![vec![title.to_owned()]];
    rows[0].extend(workloads.iter().map(ToString::to_string));
    for engine in engines {
        let mut row = vec![engine.to_string()];
        row.extend(workloads.iter().map(|&workload| {
            of(workload).find(|measurement| measurement.engine == engine).map_or_else(|| "-".to_owned(), &cell)
        }));
        rows.push(row);
    }
    aligned(&rows)
}

/// Writes cells as Markdown, with the first column to the left and the others to the right.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    // A rule of three dashes and a colon is the narrowest.
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(4);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let cell = if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            text.push_str(&format!("| {cell} "));
        }
        text.push_str("|\n");
        if index == 0 {
            for (column, &width) in widths.iter().enumerate() {
                let rule = if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) };
                text.push_str(&format!("| {rule} "));
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_has_no_number_and_no_column() {
        let workloads: Vec<Workload> = Workload::all().collect();
        let measurement = |engine, workload: Workload, ratio| Measurement {
            engine,
            workload: workload.kind,
            n: workload.n,
            timeout_ms: workload.timeout_ms,
            ratio,
            ratio_min: ratio,
            ratio_median: ratio,
            ratio_max: ratio,
            ns_per_unit: 1.0,
            bare_ns_per_unit: 1.0,
            peak_memory_bytes: Some(2_340_000),
        };
        let measurements = [
            measurement(Engine::Desim, workloads[0], 1.256),
            measurement(Engine::Simutant, workloads[0], 1.0),
            measurement(Engine::Simutant, workloads[6], 14.0),
        ];
        let expected = "\
| ratio to the bare loop | hold 1,000 |   mm1 |
| ---------------------- | ---------: | ----: |
| simutant               |       1.00 | 14.00 |
| desim                  |       1.26 |     - |

| peak memory, MB | hold 1,000 |  mm1 |
| --------------- | ---------: | ---: |
| simutant        |        2.3 |  2.3 |
| desim           |        2.3 |    - |
";
        assert_eq!(tables(&measurements), expected);
    }
}
