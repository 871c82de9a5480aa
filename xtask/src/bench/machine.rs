//! What the figures were measured on.

use std::{fs, thread};

use serde::Serialize;
use xshell::{Shell, cmd};

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cores: usize,
    processor: String,
    system: String,
    compiler: String,
    /// Processes that wanted a core in the minute before: the lower the better.
    load_before: Option<f64>,
}

impl Machine {
    pub(crate) fn look(shell: &Shell) -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let say = |command: xshell::Cmd<'_>| command.quiet().ignore_stderr().read().unwrap_or_default();
        Self {
            cores: thread::available_parallelism().map_or(1, Into::into),
            processor: processor.map_or_else(String::new, |(_, name)| name.to_owned()),
            system: say(cmd!(shell, "uname -srm")),
            compiler: say(cmd!(shell, "rustc --version")),
            load_before: load.split_whitespace().next().and_then(|load| load.parse().ok()),
        }
    }
}
