//! What this program was compiled for.

use simutant_protocol::TargetFeature;

/// Returns those of some features that the compiler was allowed to use.
macro_rules! compiled_for {
    ($($feature:literal: $flag:literal),* $(,)?) => {
        [$(($feature, $flag, cfg!(target_feature = $feature))),*]
    };
}

/// Returns the features of a processor that this program may use, as far as a compiler uses them by itself.
pub(crate) fn features() -> Vec<TargetFeature> {
    let known = compiled_for!(
        "sse": "sse",
        "sse2": "sse2",
        "sse3": "pni",
        "ssse3": "ssse3",
        "sse4.1": "sse4_1",
        "sse4.2": "sse4_2",
        "popcnt": "popcnt",
        "lzcnt": "abm",
        "movbe": "movbe",
        "avx": "avx",
        "avx2": "avx2",
        "fma": "fma",
        "f16c": "f16c",
        "bmi1": "bmi1",
        "bmi2": "bmi2",
        "adx": "adx",
        "aes": "aes",
        "pclmulqdq": "pclmulqdq",
        "sha": "sha_ni",
        "avx512f": "avx512f",
        "avx512bw": "avx512bw",
        "avx512cd": "avx512cd",
        "avx512dq": "avx512dq",
        "avx512vl": "avx512vl",
        "avx512vnni": "avx512_vnni",
        "avx512vbmi2": "avx512_vbmi2",
    );
    let used = known.into_iter().filter(|(.., is_used)| *is_used);
    used.map(|(name, flag, _)| TargetFeature { name: name.to_owned(), flag: flag.to_owned() }).collect()
}
