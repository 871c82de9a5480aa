//! The server that the model answers from.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{
    install::Installed,
    process::{Process, wait_until},
};

/// What starts it.
const SCRIPT: &str = include_str!("serve.py");
/// Loading 100 MB takes a second, and a machine may be busy.
const START: Duration = Duration::from_mins(2);
/// Its answers to questions about itself are immediate, unless it is in the middle of a long prompt.
const ANSWER: Duration = Duration::from_secs(30);

/// A server on loopback. It ends when this is dropped, and with the process that owns this.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    port: u16,
    log: PathBuf,
}

impl Server {
    /// Starts a server with this window, in tokens, and waits until it answers.
    pub(crate) fn start(installed: &Installed, room: &Path, window: u32, threads: u32) -> Result<Self> {
        let (script, log) = (room.join("serve.py"), room.join("server.log"));
        fs::write(&script, SCRIPT).with_context(|| format!("failed to write {}", script.display()))?;
        let output = File::create(&log).with_context(|| format!("failed to write {}", log.display()))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new(&installed.python);
        command.arg(script).arg(&installed.weights).args([
            port.to_string(),
            window.to_string(),
            threads.to_string(),
        ]);
        // The pipe to its input stays open as long as the process is held.
        command.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output);
        let mut server = Self { process: Process::start(&mut command)?, port, log };
        wait_until(START, || server.is_ready()).with_context(|| server.complaint())?;
        Ok(server)
    }

    /// Its address, without a path.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether it works on an answer.
    pub(crate) fn is_busy(&self) -> Result<bool> {
        let (status, body) = self.get("/slots")?;
        ensure!(status == 200, "the server says {status} to /slots: {body}");
        let slots: Vec<Value> = serde_json::from_str(&body).context("the server's slots are no list")?;
        Ok(slots.iter().any(|slot| slot["is_processing"] == true))
    }

    fn is_ready(&mut self) -> Result<bool> {
        if let Some(status) = self.process.ended()? {
            bail!("the server ended with {status}");
        }
        Ok(self.get("/health").is_ok_and(|(status, _)| status == 200))
    }

    fn complaint(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(12)..].join("\n");
        format!("the model's server did not start; its last words:\n{last}\n")
    }

    /// The status and the body that a path gives. No client needed for that little.
    fn get(&self, path: &str) -> Result<(u16, String)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(ANSWER))?;
        write!(stream, "GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).context("the server does not answer")?;
        parse(&answer)
    }
}

fn parse(answer: &str) -> Result<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n").context("the server's answer has no end of its head")?;
    let status = head.split(' ').nth(1).context("the server's answer has no status")?;
    Ok((status.parse().context("the server's status is no number")?, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_apart() {
        let answer = "HTTP/1.1 503 Service Unavailable\r\nServer: x\r\n\r\n{\"error\":1}";
        assert_eq!(parse(answer).expect("an answer"), (503, "{\"error\":1}".to_owned()));
        assert!(parse("HTTP/1.1 200 OK\r\n").is_err());
        assert!(parse("no\r\n\r\n").is_err());
    }
}
