//! The headless program: simulates scenes and inspects robot files, without ROS.

mod inspect;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Contact-rich robot simulation.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print what a robot file holds, and warn of what will bite.
    Inspect(inspect::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_chain(error.as_ref());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    match arguments.command {
        Command::Inspect(arguments) => inspect::run(&arguments),
    }
}

/// The error and what caused it, one line each.
fn print_chain(error: &dyn Error) {
    eprintln!("isobar: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because: {cause}");
        source = cause.source();
    }
}
