//! Functions of real numbers that give the same bits on every platform.
//!
//! The standard library's logarithm and exponential are the platform's, and differ in the last bits from one to the
//! next. Those here are made of additions, multiplications, divisions and square roots alone, which IEEE 754 fixes to
//! the last bit and which Rust never fuses or reorders. Their results are off by a few units in the last place at most.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

const FRACTION_BITS: u32 = 52;
const EXPONENT_BIAS: i64 = 1_023;

/// 1/3, 1/5, 1/7, ...
const INVERSE_ODD: [f64; 11] = {
    let mut inverse = [0.0; 11];
    let mut index = 0;
    while index < inverse.len() {
        inverse[index] = 1.0 / (2 * index + 3) as f64;
        index += 1;
    }
    inverse
};

/// 1/0!, 1/1!, 1/2!, ...
const INVERSE_FACTORIALS: [f64; 15] = {
    let mut inverse = [1.0; 15];
    let mut factorial = 1_u64;
    let mut index = 1;
    while index < inverse.len() {
        factorial *= index as u64;
        inverse[index] = 1.0 / factorial as f64;
        index += 1;
    }
    inverse
};

/// Returns the polynomial with these coefficients, that of the lowest power first, by Horner's rule.
fn polynomial(coefficients: &[f64], at: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * at + coefficient)
}

/// Returns the natural logarithm of a positive normal number: of its exponent, and of its fraction by the series of the
/// inverse hyperbolic tangent, which is short since the fraction is near 1.
pub fn ln(value: f64) -> f64 {
    debug_assert!(value.is_normal(), "{value} has no logarithm here");
    debug_assert!(value > 0.0, "{value} has no logarithm");
    let bits = value.to_bits();
    let mut exponent = (bits >> FRACTION_BITS) as i64 - EXPONENT_BIAS;
    let fraction_mask = (1_u64 << FRACTION_BITS) - 1;
    let mut fraction = f64::from_bits((bits & fraction_mask) | ((EXPONENT_BIAS as u64) << FRACTION_BITS));
    if fraction > SQRT_2 {
        fraction /= 2.0;
        exponent += 1;
    }
    let ratio = (fraction - 1.0) / (fraction + 1.0);
    let square = ratio * ratio;
    // 1/3 + square/5 + square^2/7 + ...; the ratio is at most 0.172, so what is left out is below 2^-58 of the sum.
    let series = polynomial(&INVERSE_ODD, square);
    exponent as f64 * LN_2 + (2.0 * ratio + 2.0 * ratio * square * series)
}

/// Returns e to the power of a number that is not negative; infinity if that is more than there are numbers for.
pub fn exp(value: f64) -> f64 {
    debug_assert!(value >= 0.0, "the exponent {value} is negative");
    // The natural logarithm of 2 in two parts; the first has few enough bits for its products to be exact.
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
    let exponent = (value * LOG2_E + 0.5) as i64;
    if exponent > EXPONENT_BIAS {
        return f64::INFINITY;
    }
    let rest = (value - exponent as f64 * LN_2_HIGH) - exponent as f64 * LN_2_LOW;
    // Taylor's series; the rest is at most 0.347, so what is left out is below 2^-57 of the sum.
    let power = polynomial(&INVERSE_FACTORIALS, rest);
    power * f64::from_bits(((exponent + EXPONENT_BIAS) as u64) << FRACTION_BITS)
}

/// Returns the value that a standard normal variable stays below with the given probability, which is above 0 and below
/// 1: function PPND16 of Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied
/// Statistics 37, 1988.
#[expect(clippy::excessive_precision, reason = "the coefficients are as published")]
pub fn normal_quantile(probability: f64) -> f64 {
    const A: [f64; 8] = [
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ];
    const B: [f64; 8] = [
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ];
    const C: [f64; 8] = [
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ];
    const E: [f64; 8] = [
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ];
    let quotient = |above: &[f64; 8], below: &[f64; 8], at: f64| polynomial(above, at) / polynomial(below, at);
    let centered = probability - 0.5;
    if centered.abs() <= 0.425 {
        return centered * quotient(&A, &B, 0.180625 - centered * centered);
    }
    let tail = if centered < 0.0 { probability } else { 1.0 - probability };
    let root = (-ln(tail)).sqrt();
    let value = if root <= 5.0 { quotient(&C, &D, root - 1.6) } else { quotient(&E, &F, root - 5.0) };
    if centered < 0.0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF as _, Normal};

    use super::*;

    #[track_caller]
    fn check_close(value: f64, expect: f64, tolerance: f64) {
        assert!((value - expect).abs() <= tolerance * expect.abs(), "{value}, not {expect}");
    }

    #[test]
    fn logarithm_and_exponential_are_those_of_the_platform_but_for_the_last_bits() {
        for step in 1..20_000_u32 {
            let value = f64::from(step) / 1_000.0;
            check_close(ln(value), value.ln(), 1e-15);
            check_close(exp(value * 30.0), (value * 30.0).exp(), 1e-15);
        }
        for exponent in 1..=53 {
            check_close(ln(0.5_f64.powi(exponent)), -f64::from(exponent) * LN_2, 1e-15);
        }
        assert_eq!((ln(1.0), exp(0.0), exp(710.0)), (0.0, 1.0, f64::INFINITY));
    }

    #[test]
    fn the_normal_quantile_inverts_the_normal_distribution() {
        let normal = Normal::standard();
        for step in 1..10_000_u32 {
            let probability = f64::from(step) / 10_000.0;
            // That library's distribution function is off by up to 1e-10.
            check_close(normal.cdf(normal_quantile(probability)), probability, 1e-9);
        }
        // Published values, one for each of the three ranges of the algorithm.
        check_close(normal_quantile(0.25), -0.674_489_750_196_081_7, 1e-15);
        check_close(normal_quantile(0.001), -3.090_232_306_167_813, 1e-15);
        check_close(normal_quantile(1e-20), -9.262_340_089_798_408, 1e-15);
        check_close(normal_quantile(0.75), 0.674_489_750_196_081_7, 1e-15);
    }

    #[test]
    fn bits_never_change() {
        let bits = [ln(0.3), exp(2.7), normal_quantile(0.2), normal_quantile(0.99)].map(f64::to_bits);
        let expect = [
            13_831_473_067_500_349_216,
            4_624_566_162_336_197_182,
            13_829_127_906_547_864_371,
            4_612_420_888_509_349_644,
        ];
        assert_eq!(bits, expect);
    }
}
