//! Correction for a screen of many claims, of which a few may be false: the method of Benjamini and Hochberg (1995).

/// Returns the p-values corrected for their number, in the same order: sorted,
/// `adjusted_i = min over j >= i of min(1, m p_j / j)`.
///
/// Of what is below alpha then, a share of at most alpha is expected to be false, for tests that are independent or
/// move together.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut lowest: f64 = 1.0;
    for (rank, &index) in order.iter().enumerate().rev() {
        // In this order rounding never takes it below the p-value itself.
        lowest = lowest.min(p_values[index] * (p_values.len() as f64 / (rank + 1) as f64));
        corrected[index] = lowest;
    }
    corrected
}
