//! Limits of money, and where prices come from.

mod testbed;

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use testbed::Bed;
use thermidor_testing::mock::MockProvider;

/// A home whose `mock` provider has a card with a price of 100 dollars per million tokens.
fn priced() -> (Bed, MockProvider) {
    let (bed, mock) = (Bed::new(), MockProvider::start().expect("the mock starts"));
    let card = "[[models]]\nid = \"mock/mock-echo\"\ncontext_window = 32768\n\
                price = { currency = \"USD\", input = 100000000, output = 100000000 }\n";
    bed.write("config.toml", &format!("{card}[providers.mock]\nbase_url = \"{}\"\n", mock.base_url()));
    (bed, mock)
}

/// Would fail if a run spent on after its limit, or did not say what it had spent.
#[test]
fn max_cost_ends_a_run_and_says_what_was_spent() {
    let (bed, mock) = priced();
    let said = bed.run(&["run", "-m", "mock/mock-echo", "--max-cost", "0.01", "a tea timer"]).expect(5);
    assert_eq!(said.out, "");
    let error = said.error();
    assert!(error.contains("limit of money after spending 0."), "{}", said.err);
    assert!(error.contains("USD. Go on with: thermidor runs resume"), "{}", said.err);
    assert!(error.contains("--max-cost AMOUNT"), "{}", said.err);
    let asked = mock.stats().requests;
    assert!((1..5).contains(&asked), "{asked} requests");
    let same = bed.run(&["runs", "resume", "last"]).expect(2);
    assert!(same.error().contains("--max-cost AMOUNT"), "{}", same.err);
    let said = bed.run(&["runs", "resume", "last", "--max-cost", "50"]).expect(0);
    assert!(said.out.contains("## Project files"), "{}", said.out);
    assert!(said.err.contains(" USD"), "{}", said.err);
}

/// Would fail if a limit that cannot be kept were taken without a word.
#[test]
fn max_cost_without_a_price_is_refused_with_the_remedy() {
    let (bed, mock) = priced();
    let refused = bed.run(&["run", "-m", "mock/mock-txt", "--max-cost", "0.01", "hi"]).expect(2);
    assert!(refused.error().contains("no price is known of mock/mock-txt"), "{}", refused.err);
    for remedy in ["--max-tokens", "[[models]]"] {
        assert!(refused.error().contains(remedy), "{}", refused.err);
    }
    let other = bed.run(&["run", "-m", "mock/mock-echo", "--max-cost", "3CNY", "hi"]).expect(2);
    assert!(other.error().contains("is billed in USD"), "{}", other.err);
    assert!(other.error().contains("--max-cost AMOUNTUSD"), "{}", other.err);
    let wrong = bed.run(&["run", "-m", "mock/mock-echo", "--max-cost", "much", "hi"]).expect(2);
    assert!(wrong.err.contains("0.50USD"), "{}", wrong.err);
    assert_eq!(mock.stats().requests, 0, "nothing may be asked");
    // The limit of the team's own file is not the user's wish: it is said that it cannot hold.
    let noted = bed.run(&["run", "-m", "mock/mock-txt", "--max-turns", "1", "hi"]);
    assert!(
        noted.err.contains("Note: no price is known of mock/mock-txt, so a limit of 1.00 USD"),
        "{}",
        noted.err
    );
}

/// A provider that bills itself needs no card.
#[test]
fn max_cost_holds_where_the_provider_bills() {
    let bed = Bed::new();
    let mut command =
        bed.command(&["run", "--dry-run", "-m", "openrouter/some/model", "--max-cost", "1", "hi"]);
    let said = command.env("OPENROUTER_API_KEY", "k").output().expect("it starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(String::from_utf8_lossy(&said.stdout).contains("1.00 USD"));
}

/// Would fail if a card with figures in the wrong unit were believed.
#[test]
fn cards_in_the_settings_are_checked() {
    let bed = Bed::new();
    bed.write("config.toml", "[[models]]\nid = \"lab/m\"\ncontext_window = 128\n");
    let said = bed.run(&["models", "ls"]).expect(3);
    assert!(
        said.error().contains("config.toml: model lab/m: context_window: 128 is no window"),
        "{}",
        said.err
    );
    bed.write("config.toml", "[[models]]\nid = \"lab/m\"\ncontext_window = 0.2\n");
    let said = bed.run(&["models", "ls"]).expect(3);
    assert!(said.error().contains("config.toml:3:18"), "{}", said.err);
    bed.write("config.toml", "[[models]]\nid = \"openai/gpt-5\"\ncontext_window = 64000\nprice = { currency = \"EUR\", input = 1000000, output = 2000000 }\n");
    let listed = bed.run(&["models", "ls"]).expect(0).out;
    let line = listed.lines().find(|line| line.starts_with("openai/gpt-5 ")).expect("listed");
    assert!(line.contains("64,000") && line.contains("EUR") && line.ends_with("config"), "{line}");
    let shown = bed.run(&["config", "show"]).expect(0).out;
    assert!(
        shown.contains("[[models]]\nid = \"openai/gpt-5\"") && shown.contains("[models.price]"),
        "{shown}"
    );
    testbed::write(
        &bed.work().join(".thermidor/config.toml"),
        "[[models]]\nid = \"lab/m\"\ncontext_window = 8000\n",
    );
    let refused = bed.run(&["models", "ls"]).expect(3);
    assert!(refused.error().contains("[[models]] (lab/m) is not allowed"), "{}", refused.err);
}

/// Answers every request with `body`, as long as the test runs.
fn serve(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection");
            // The head of a small request comes in one piece.
            let read = socket.read(&mut [0; 4096]).expect("a request");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            if read > 0 {
                write!(socket, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("written");
            }
        }
    });
    format!("http://{address}/v1")
}

/// Would fail if a list were not kept, not used by the next command, or lost when a provider is away.
#[test]
fn refreshed_models_are_kept_and_used() {
    let list = r#"{"data":[{"id":"big","context_length":64000,"pricing":{"prompt":"0.000001","completion":"0.000002"}},
                   {"id":"text-embedding-x"}]}"#;
    let bed = Bed::new();
    let config = |lab: &str| {
        let text = format!(
            "[providers.lab]\nbase_url = \"{lab}\"\n[providers.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        );
        bed.write("config.toml", &text);
    };
    let address = serve(list);
    config(&address);
    let said = bed.run(&["models", "ls", "--refresh", "lab", "gone"]).expect(0);
    assert!(said.err.contains("lab: 2 models, 1 of them for chat"), "{}", said.err);
    assert!(said.err.contains("gone: network error: 127.0.0.1:9 could not be reached"), "{}", said.err);
    let line = |out: &str| out.lines().find(|line| line.starts_with("lab/big")).unwrap_or("none").to_owned();
    let first = line(&said.out);
    assert!(
        first.contains("64,000") && first.contains("1.00") && first.contains("its list, now"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("text-embedding-x"), "{}", said.out);
    let later = bed.run(&["models", "ls"]).expect(0).out;
    assert!(line(&later).contains("64,000") && line(&later).contains("its list, "), "{later}");
    // The price is the provider's, so a limit of money can hold.
    bed.run(&["run", "--dry-run", "-m", "lab/big", "--max-cost", "1", "hi"]).expect(0);
    // Nobody answers: said, and the list stays.
    let kept = std::fs::read_to_string(bed.home().join("models.json")).expect("kept");
    let refused = bed.run(&["models", "ls", "--refresh", "gone"]).expect(4);
    assert!(refused.error().contains("no provider told its models; nothing was changed"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(bed.home().join("models.json")).expect("kept"), kept);
    // Another server under the same name: what the first one told says nothing of it.
    config("http://127.0.0.1:9/v1");
    assert_eq!(line(&bed.run(&["models", "ls"]).expect(0).out), "none");
    let unknown = bed.run(&["models", "ls", "--refresh", "nobody"]).expect(2);
    assert!(unknown.error().contains("no provider is called \"nobody\""), "{}", unknown.err);
    bed.write("models.json", "{");
    let damaged = bed.run(&["models", "ls"]).expect(3);
    assert!(damaged.error().contains("models.json: is damaged"), "{}", damaged.err);
}
