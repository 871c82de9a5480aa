//! Ctrl-C, a killed process, and going on afterwards.
#![cfg(unix)]

mod testbed;

use std::{
    fs::File,
    io::Read as _,
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};
use testbed::{Bed, count, end, wait_until};
use thermidor_testing::mock::MockProvider;

/// Five stages of half a second each, streamed.
const SLOW: &str = "mock/mock-echo-l500";

fn mocked() -> (Bed, MockProvider) {
    let (bed, mock) = (Bed::new(), MockProvider::start().expect("the mock starts"));
    bed.with_mock(&mock);
    (bed, mock)
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it lives");
}

fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "how fast another process ends is told by no clock of ours"
    )]
    Instant::now()
}

/// Waits until `n` requests came and the last one's stream is on its way.
fn in_stage(mock: &MockProvider, n: u64) {
    wait_until("the stage", || mock.stats().requests == n);
    let before = mock.stats().bytes_out;
    // More than the first few events: some of them have arrived by then.
    wait_until("the stream", || mock.stats().bytes_out > before + 3_000);
}

/// Would fail if a finished stage were asked again, the open one not, or the result were not whole.
#[test]
fn a_killed_run_goes_on_with_one_repeated_request() {
    let (bed, mock) = mocked();
    let mut child = bed.start(&["run", "-m", SLOW, "a tea timer"]);
    in_stage(&mock, 3);
    signal(&child, Signal::KILL);
    child.wait().expect("it dies");
    let listed = bed.run(&["runs", "ls"]).expect(0).out;
    assert!(listed.contains("interrupted"), "{listed}");
    let said = bed.run(&["runs", "resume", "last"]).expect(0);
    assert!(said.out.contains("## Project files"), "{}", said.out);
    for part in ["▸ 3/5 Frontend design · Frontend engineer goes on …", "✓ 3/5 ", "✓ 5/5 Delivery"] {
        assert!(said.err.contains(part), "{part} is missing: {}", said.err);
    }
    assert!(!said.err.contains("2/5"), "what was finished is not shown again: {}", said.err);
    let stats = mock.stats();
    assert_eq!((stats.requests, stats.repeated), (6, 1), "exactly the open request is made again");
    let events = bed.events("last");
    assert_eq!((count(&events, "turn_started"), count(&events, "turn_ended")), (5, 5));
    assert_eq!(count(&events, "run_resumed"), 1);
}

/// Would fail if stopping took long, lost what was said, or could not be undone.
#[test]
fn the_first_signal_stops_in_order_and_the_run_resumes() {
    for which in [Signal::INT, Signal::TERM] {
        let (bed, mock) = mocked();
        let child = bed.start(&["run", "-m", SLOW, "a tea timer"]);
        in_stage(&mock, 2);
        let sent = now();
        signal(&child, which);
        let said = end(child).expect(130);
        let took = now().duration_since(sent);
        assert!(took.as_millis() < 1_000, "{took:?}");
        assert_eq!(said.out, "");
        let last = said.err.lines().last().expect("words");
        let id = last.strip_prefix("Stopped. Resume with: thermidor runs resume ").expect(last);

        let events = bed.events(id);
        let cut = events.iter().find(|event| event["type"] == "said" && event["ending"] == "CutOff");
        let text = cut.and_then(|cut| cut["text"].as_str()).unwrap_or_default();
        assert!(text.starts_with("*echo-"), "what was said is kept, marked as cut off; it was: {text}");
        assert!(bed.run(&["runs", "ls"]).expect(0).out.contains("suspended"));
        let said = bed.run(&["runs", "resume", id]).expect(0);
        assert!(said.out.contains("## Project files"), "{}", said.out);
        assert_eq!(mock.stats().requests, 6);
    }
}

/// Would fail if a hanging provider could hold the command.
#[test]
fn a_silent_provider_does_not_keep_it() {
    let (bed, mock) = mocked();
    let child = bed.start(&["run", "-q", "-m", "mock/mock-txt-hang", "hi"]);
    wait_until("the request", || mock.stats().requests == 1);
    let sent = now();
    signal(&child, Signal::INT);
    end(child).expect(130);
    assert!(now().duration_since(sent).as_millis() < 1_000);
}

/// Would fail if two processes could drive one run, or one could not be watched from outside.
#[test]
fn a_run_driven_elsewhere_is_followed_and_not_resumed() {
    let (bed, mock) = mocked();
    let child = bed.start(&["run", "-m", SLOW, "a tea timer"]);
    in_stage(&mock, 2);
    let refused = bed.run(&["runs", "resume", "last"]).expect(2);
    assert!(refused.error().contains("is being driven by another process"), "{}", refused.err);
    assert!(bed.run(&["runs", "ls"]).expect(0).out.contains("running"));
    let followed = bed.run(&["runs", "tail", "last"]).expect(0);
    let said = end(child).expect(0);
    assert_eq!(followed.out, said.out);
    assert!(followed.err.contains("✓ 5 Delivery"), "{}", followed.err);
    assert_eq!(mock.stats().requests, 5, "nobody asked twice");
}

/// Under a terminal: live lines, colours, and Ctrl-C as the terminal sends it to its foreground process.
#[test]
fn on_a_terminal_the_lines_live_and_ctrl_c_stops() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let (bed, _mock) = mocked();
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pty");
    grantpt(&main).and_then(|()| unlockpt(&main)).expect("usable");
    let name = ptsname(&main, Vec::new()).expect("a name");
    let open =
        || File::options().read(true).write(true).open(name.to_str().expect("text")).expect("the other end");
    let mut command = bed.command(&["run", "-m", SLOW, "a tea timer"]);
    command.env("TERM", "xterm-256color").stdin(open()).stdout(Stdio::piped()).stderr(open());
    let child = command.spawn().expect("it starts");
    drop(command);
    let shown = Arc::new(Mutex::new(Vec::new()));
    let screen = shown.clone();
    let reader = std::thread::spawn(move || {
        let (mut main, mut buffer) = (File::from(main), [0; 4096]);
        // Reading fails once nobody holds the other end any more.
        while let Ok(count @ 1..) = main.read(&mut buffer) {
            screen.lock().expect("nobody panics").extend_from_slice(&buffer[..count]);
        }
    });
    let text = || String::from_utf8_lossy(&shown.lock().expect("nobody panics")).into_owned();
    wait_until("the second live line", || text().contains("2/5 Project plan · Project manager  writing"));
    let sent = now();
    signal(&child, Signal::INT);
    let said = end(child).expect(130);
    assert!(now().duration_since(sent).as_millis() < 1_000);
    assert_eq!(said.out, "");
    reader.join().expect("it reads to the end");
    let shown = text();
    for part in [
        "✓ 1/5 Business analysis · General manager",
        "2/5 Project plan · Project manager  writing",
        "\u{1b}[",
    ] {
        assert!(shown.contains(part), "{part} is missing: {shown}");
    }
    assert!(shown.contains("Stopped. Resume with: thermidor runs resume "), "{shown}");
    bed.run(&["runs", "resume", "last", "-q"]).expect(0);
}
