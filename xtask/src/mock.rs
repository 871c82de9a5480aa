//! The mock provider as a process of its own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A running mock provider; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Mock {
    child: Child,
    address: String,
}

/// What it has seen so far.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Stats {
    /// Chat requests.
    pub(crate) requests: u64,
    /// Chat requests that had been sent before, byte for byte.
    pub(crate) repeated: u64,
    /// Seconds of CPU of its own.
    pub(crate) cpu_s: Option<f64>,
}

impl Mock {
    /// Starts it on a free port.
    pub(crate) fn start(program: &Path) -> Result<Self> {
        Self::start_with(program, None)
    }

    /// Starts it on a free port, with the answers of a file.
    pub(crate) fn start_with(program: &Path, answers: Option<&Path>) -> Result<Self> {
        let mut command = Command::new(program);
        if let Some(answers) = answers {
            command.arg("--answers").arg(answers);
        }
        let mut child = command
            .args(["--port", "0", "--max-seconds", "7200"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start the mock provider")?;
        let output = child.stdout.take().context("the mock provider has no stdout")?;
        let mut mock = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.split_whitespace().nth(1);
        address.with_context(|| format!("the mock provider said {line:?}"))?.clone_into(&mut mock.address);
        Ok(mock)
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks what it has seen.
    pub(crate) fn stats(&self) -> Result<Stats> {
        let mut socket = TcpStream::connect(&self.address).context("the mock provider is gone")?;
        socket.set_read_timeout(Some(Duration::from_secs(30)))?;
        write!(socket, "GET /stats HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("the mock provider's answer has no body")?;
        serde_json::from_str(body).with_context(|| format!("not the mock provider's figures: {body}"))
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // Nothing is lost with it, and one that is gone already is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stats {
    /// What came since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            repeated: self.repeated - earlier.repeated,
            cpu_s: self.cpu_s.zip(earlier.cpu_s).map(|(now, then)| now - then),
        }
    }
}
