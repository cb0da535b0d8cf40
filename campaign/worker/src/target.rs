//! What this program was compiled for.

/// Returns those of some features that the compiler was allowed to use.
macro_rules! compiled_for {
    ($($feature:literal),* $(,)?) => {
        [$(($feature, cfg!(target_feature = $feature))),*]
    };
}

/// Returns the features of a processor that this program may use, as rustc names them, as far as a compiler uses them by
/// itself.
pub(crate) fn features() -> Vec<String> {
    let known = compiled_for!(
        "sse",
        "sse2",
        "sse3",
        "ssse3",
        "sse4.1",
        "sse4.2",
        "popcnt",
        "lzcnt",
        "movbe",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "bmi1",
        "bmi2",
        "adx",
        "aes",
        "pclmulqdq",
        "sha",
        "avx512f",
        "avx512bw",
        "avx512cd",
        "avx512dq",
        "avx512vl",
        "avx512vnni",
        "avx512vbmi2",
    );
    known.into_iter().filter(|(_, is_used)| *is_used).map(|(name, _)| name.to_owned()).collect()
}
