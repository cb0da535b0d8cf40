//! The `simutant` command from outside: exit codes, output and files, on go-back-n.

mod check;
mod cluster;
mod commands;
mod diff;
mod edits;
mod errors;
mod experiment;
mod explain;
mod explore;
mod export;
mod http;
mod implementations;
mod init;
mod isolation;
mod processes;
mod reference;
mod resume;
mod score;
mod select;
mod self_checks;
mod shards;
mod shrink;
mod slurm;
mod study;
mod support;
mod trace_files;
