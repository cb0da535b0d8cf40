//! Which values no later code can tell apart.

/// A value of a type whose equality is known to mean that nothing can tell two values apart.
///
/// Not `PartialEq`: a type may call values equal that differ in what it does not compare, and `0.0 == -0.0`. Mutants of
/// expressions of other types count as infected where they are reached.
pub trait Same {
    /// Whether nothing can tell the two apart.
    fn same(&self, other: &Self) -> bool;
}

macro_rules! same_if_equal {
    ($($type:ty),*) => {
        $(impl Same for $type {
            fn same(&self, other: &Self) -> bool {
                self == other
            }
        })*
    };
}

same_if_equal!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char, ());

impl Same for f32 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Same for f64 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_same_bit_by_bit() {
        assert!(f64::NAN.same(&f64::NAN) && 1.5_f32.same(&1.5));
        assert!(!0.0_f64.same(&-0.0) && !0.0_f32.same(&-0.0));
    }
}
