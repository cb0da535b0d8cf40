//! What the thesis's own implementations did, to stand beside ours: tables 4.1, 4.3 to 4.6 and 4.9 to 4.11 of Matthew
//! J. Rutherford, PhD thesis, University of Colorado.

use crate::conventional::Relation;

/// The figures of one system.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) system: &'static str,
    /// The failure rates of its implementations in percent, by table 4.1.
    pub(super) failure_rates: &'static [f64],
    /// The row of table 4.3.
    pub(super) preparation: PreparationFigures,
    /// What tables 4.4 to 4.6 say, in a sentence.
    pub(super) inputs: &'static str,
    /// Rows of tables 4.9 to 4.11.
    pub(super) cost_effectiveness: &'static [Row],
}

/// Sizes, and times in seconds.
#[derive(Debug)]
pub(super) struct PreparationFigures {
    pub(super) cases: usize,
    pub(super) mutants: usize,
    pub(super) subjects: usize,
    pub(super) simulation_s: f64,
    pub(super) execution_s: f64,
    pub(super) total_days: f64,
}

/// One criterion against random suites.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) criterion: &'static str,
    /// The random sizes, which need not be all between the first and the last.
    pub(super) sizes: &'static [usize],
    /// `-`, `=` or `+` for each of them.
    pub(super) cost: &'static str,
    pub(super) effectiveness: &'static str,
}

impl Row {
    /// Returns the relations of cost and effectiveness at a size, if the table has it.
    pub(super) fn at(&self, size: usize) -> Option<[Relation; 2]> {
        let place = self.sizes.iter().position(|&known| known == size)?;
        let relation = |text: &str| match text.as_bytes()[place] {
            b'-' => Relation::Worse,
            b'+' => Relation::Better,
            _ => Relation::Equivalent,
        };
        Some([relation(self.cost), relation(self.effectiveness)])
    }
}

/// Returns the figures of a system that the thesis has.
pub(super) fn figures(system: &str) -> Option<&'static Figures> {
    [&GBN, &LSR, &DNS].into_iter().find(|figures| figures.system == system)
}

const GBN_SIZES: &[usize] = &[3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const LSR_SIZES: &[usize] = &[1, 2, 3, 4, 5, 6];
const DNS_SIZES: &[usize] = &[12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 26];

const GBN: Figures = Figures {
    system: "gbn-thesis",
    failure_rates: &[0.28, 0.32, 0.40, 3.16, 3.40, 4.72, 16.96, 17.00],
    preparation: PreparationFigures {
        cases: 2500,
        mutants: 146,
        subjects: 8,
        simulation_s: 4.12,
        execution_s: 35.2,
        total_days: 25.0,
    },
    inputs: "failing test cases have a median drop probability of 0.03 to 0.18 and a median duplication probability of 0.10 to 0.14 \
             (table 4.4); in the universe both are 0.10",
    cost_effectiveness: &[
        Row { criterion: "all-blocks", sizes: GBN_SIZES, cost: "-+++++++++", effectiveness: "+=--------" },
        Row { criterion: "all-branches", sizes: GBN_SIZES, cost: "--++++++++", effectiveness: "++--------" },
        Row { criterion: "all-uses", sizes: GBN_SIZES, cost: "----++++++", effectiveness: "+++++++==-" },
    ],
};

const LSR: Figures = Figures {
    system: "lsr",
    failure_rates: &[5.04, 5.15, 5.21, 7.70, 7.94, 8.02, 8.48, 12.17, 12.42],
    preparation: PreparationFigures {
        cases: 7000,
        mutants: 17,
        subjects: 8,
        simulation_s: 2.66,
        execution_s: 6.9,
        total_days: 8.0,
    },
    inputs: "with two routers, or three in a line, 0.3 to 0.65 % of the test cases fail, with 3-Cycle, 4-Line and 4-Star 2.1 to 11.4 %, with \
             4-Cycle and 4-Mesh 0.75 to 39 % (table 4.5)",
    cost_effectiveness: &[
        Row { criterion: "all-blocks", sizes: LSR_SIZES, cost: "-+++++", effectiveness: "+-----" },
        Row { criterion: "all-branches", sizes: LSR_SIZES, cost: "----++", effectiveness: "++++=-" },
        Row { criterion: "all-uses", sizes: LSR_SIZES, cost: "----++", effectiveness: "+++=--" },
    ],
};

const DNS: Figures = Figures {
    system: "dns",
    failure_rates: &[9.15, 15.25, 17.30, 17.45, 17.55, 18.00, 18.20, 18.40, 18.45, 18.70, 18.90],
    preparation: PreparationFigures {
        cases: 2000,
        mutants: 135,
        subjects: 11,
        simulation_s: 7.37,
        execution_s: 11.8,
        total_days: 26.0,
    },
    inputs: "failing test cases have a median drop probability of 0.11 or 0.12 and a median duplication probability of 0.10 (table 4.6); in \
             the universe both are 0.10",
    cost_effectiveness: &[
        Row { criterion: "all-blocks", sizes: DNS_SIZES, cost: "-++++++++++", effectiveness: "+++==------" },
        Row { criterion: "all-branches", sizes: DNS_SIZES, cost: "-----++++++", effectiveness: "+++++++++=-" },
        Row { criterion: "all-uses", sizes: DNS_SIZES, cost: "----+++++++", effectiveness: "+++==------" },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_relation() {
        for figures in [&GBN, &LSR, &DNS] {
            for row in figures.cost_effectiveness {
                assert_eq!((row.cost.len(), row.effectiveness.len()), (row.sizes.len(), row.sizes.len()), "{row:?}");
                assert!(row.sizes.is_sorted(), "{row:?}");
            }
            assert!(figures.failure_rates.is_sorted() && figures.failure_rates.len() >= figures.preparation.subjects);
        }
        let all_uses = &GBN.cost_effectiveness[2];
        assert_eq!(all_uses.at(10), Some([Relation::Better, Relation::Equivalent]));
        assert_eq!(all_uses.at(2), None);
    }
}
