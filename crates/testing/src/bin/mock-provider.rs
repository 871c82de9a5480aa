//! The mock provider as a command: `mock-provider [--port N] [--max-seconds N] [--strict] [--answers FILE]`.

use std::{io::Write as _, process::ExitCode, time::Duration};

use thermidor_testing::mock::{MockOptions, MockProvider, WireAnswers};

const USAGE: &str = "usage: mock-provider [--port N] [--max-seconds N] [--strict] [--answers FILE]";

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(complaint) => return fail(&format!("{complaint}\n{USAGE}"), 2),
    };
    raise_descriptor_limit();
    let mock = match MockProvider::start_with(options) {
        Ok(mock) => mock,
        Err(error) => return fail(&format!("failed to start: {error}"), 1),
    };
    let line = format!("listening {} pid {}\n", mock.address(), std::process::id());
    let mut out = std::io::stdout().lock();
    // Nobody may be reading; it serves all the same.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    mock.wait();
    ExitCode::SUCCESS
}

fn fail(complaint: &str, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "mock-provider: {complaint}");
    ExitCode::from(code)
}

fn options(arguments: impl Iterator<Item = String>) -> Result<MockOptions, String> {
    let mut options = MockOptions { port: 8399, ..MockOptions::default() };
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let (flag, inline) = match argument.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        let mut value =
            || inline.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--port" => options.port = value()?.parse().map_err(|error| format!("--port: {error}"))?,
            "--max-seconds" => {
                let seconds: f64 = value()?.parse().map_err(|error| format!("--max-seconds: {error}"))?;
                options.lifetime = Duration::try_from_secs_f64(seconds)
                    .map_err(|error| format!("--max-seconds: {error}"))?;
            }
            "--answers" => {
                let file = value()?;
                let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
                options.answers = WireAnswers::parse(&text).map_err(|error| format!("{file}: {error}"))?;
            }
            "--strict" if inline.is_none() => options.strict = true,
            _ => return Err(format!("unknown argument {flag}")),
        }
    }
    Ok(options)
}

/// As many connections as the system allows.
fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        // With the old limit it serves fewer connections, which is no reason not to serve.
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
    }
}
