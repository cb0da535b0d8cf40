//! The testbed of the package, as a program that `simutant test` asks.

fn main() -> std::process::ExitCode {
    simutant_harness::serve(simutant_gbn::testbed::TESTBEDS)
}
