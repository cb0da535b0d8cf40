//! Correction for a handful of claims, none of which shall be false: Holm's method (1979).

/// Returns the p-values corrected for their number, in the same order: sorted,
/// `adjusted_i = max over j <= i of min(1, (m - j + 1) p_j)`.
///
/// What is below alpha then is a family in which even one false claim has a probability below alpha.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        highest = highest.max(((p_values.len() - rank) as f64 * p_values[index]).min(1.0));
        corrected[index] = highest;
    }
    corrected
}
