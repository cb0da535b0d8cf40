//! Functions of real numbers that a program takes from the machine's C library: their last bits are up to the library
//! and the processor (glibc has other code where there is no FMA), and a simulation that calls them can differ from
//! machine to machine.

use std::collections::BTreeSet;

use object::{Object, ObjectSymbol};
use sha2::{Digest, Sha256};
use simutant_random::Random;

use super::identity::hexadecimal;

/// How many results of each function are compared.
const RESULTS: usize = 1_000_000;

/// A function of the C library's that Rust's standard library calls.
enum Function {
    Double(fn(f64) -> f64),
    Single(fn(f32) -> f32),
    OfTwo(fn(f64, f64) -> f64),
    OfTwoSingle(fn(f32, f32) -> f32),
}

use Function::{Double, OfTwo, OfTwoSingle, Single};

/// Their names in the C library, and what calls them here.
const FUNCTIONS: [(&str, Function); 44] = [
    ("exp", Double(f64::exp)),
    ("exp2", Double(f64::exp2)),
    ("expm1", Double(f64::exp_m1)),
    ("log", Double(f64::ln)),
    ("log2", Double(f64::log2)),
    ("log10", Double(f64::log10)),
    ("log1p", Double(f64::ln_1p)),
    ("sin", Double(f64::sin)),
    ("cos", Double(f64::cos)),
    ("tan", Double(f64::tan)),
    ("asin", Double(f64::asin)),
    ("acos", Double(f64::acos)),
    ("atan", Double(f64::atan)),
    ("sinh", Double(f64::sinh)),
    ("cosh", Double(f64::cosh)),
    ("tanh", Double(f64::tanh)),
    ("cbrt", Double(f64::cbrt)),
    ("sincos", Double(|x| f64::sin(x) + f64::cos(x))),
    ("pow", OfTwo(f64::powf)),
    ("atan2", OfTwo(f64::atan2)),
    ("hypot", OfTwo(f64::hypot)),
    ("fmod", OfTwo(|x, y| x % y)),
    ("expf", Single(f32::exp)),
    ("exp2f", Single(f32::exp2)),
    ("expm1f", Single(f32::exp_m1)),
    ("logf", Single(f32::ln)),
    ("log2f", Single(f32::log2)),
    ("log10f", Single(f32::log10)),
    ("log1pf", Single(f32::ln_1p)),
    ("sinf", Single(f32::sin)),
    ("cosf", Single(f32::cos)),
    ("tanf", Single(f32::tan)),
    ("asinf", Single(f32::asin)),
    ("acosf", Single(f32::acos)),
    ("atanf", Single(f32::atan)),
    ("sinhf", Single(f32::sinh)),
    ("coshf", Single(f32::cosh)),
    ("tanhf", Single(f32::tanh)),
    ("cbrtf", Single(f32::cbrt)),
    ("sincosf", Single(|x| f32::sin(x) + f32::cos(x))),
    ("powf", OfTwoSingle(f32::powf)),
    ("atan2f", OfTwoSingle(f32::atan2)),
    ("hypotf", OfTwoSingle(f32::hypot)),
    ("fmodf", OfTwoSingle(|x, y| x % y)),
];

/// Returns the functions that an executable takes from the C library, in the order above; `None` if it is none that
/// can be read.
pub(super) fn imported(executable: &[u8]) -> Option<Vec<String>> {
    let file = object::File::parse(executable).ok()?;
    let undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    let imported: BTreeSet<String> = undefined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    let names = FUNCTIONS.iter().map(|(name, _)| (*name).to_owned());
    Some(names.filter(|name| imported.contains(name)).collect())
}

/// Returns what tells this machine's results of these functions from others: the SHA-256 of a million results of each.
/// `None` if there are no functions.
pub(super) fn witness(names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    for (name, function) in FUNCTIONS.iter().filter(|(name, _)| names.iter().any(|wanted| wanted == name)) {
        hash.update(name);
        let mut random = Random::from_seed(7);
        for _ in 0..RESULTS {
            match function {
                Double(function) => hash.update(function(argument(&mut random)).to_bits().to_le_bytes()),
                Single(function) => hash.update(function(argument(&mut random) as f32).to_bits().to_le_bytes()),
                OfTwo(function) => {
                    let (first, second) = (argument(&mut random), argument(&mut random));
                    hash.update(function(first, second).to_bits().to_le_bytes());
                }
                OfTwoSingle(function) => {
                    let (first, second) = (argument(&mut random) as f32, argument(&mut random) as f32);
                    hash.update(function(first, second).to_bits().to_le_bytes());
                }
            }
        }
    }
    Some(hexadecimal(&hash.finalize()))
}

/// Returns a number whose magnitude is between 2^-16 and 2^16, positive as often as negative.
fn argument(random: &mut Random) -> f64 {
    let exponent = random.uniform(0..=31_u64) as i32 - 16;
    let mantissa = 1.0 + random.uniform(0..=(1_u64 << 52) - 1) as f64 / (1_u64 << 52) as f64;
    let sign = if random.uniform(0..=1_u64) == 0 { 1.0 } else { -1.0 };
    sign * mantissa * f64::powi(2.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_takes_what_it_calls_from_the_c_library() {
        let bytes = std::fs::read(std::env::current_exe().expect("a test has a program")).expect("it can be read");
        let imported = imported(&bytes).expect("it is a program");
        assert!(imported.contains(&"tanh".to_owned()), "{imported:?}");
        assert_eq!(super::imported(b"no program"), None);
    }

    #[test]
    fn the_witness_is_the_same_each_time_and_another_one_for_other_functions() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let first = witness(&names(&["expf"]));
        assert!(first.is_some() && first == witness(&names(&["expf"])));
        assert_ne!(first, witness(&names(&["sinf"])));
        assert_eq!(witness(&[]), None);
    }
}
