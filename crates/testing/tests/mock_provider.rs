//! The mock provider over real sockets: what it answers byte for byte, and how it misbehaves.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use thermidor_testing::mock::{MockOptions, MockProvider};

const PATIENCE: Duration = Duration::from_secs(20);

fn connect(mock: &MockProvider) -> TcpStream {
    let socket = TcpStream::connect(mock.address()).expect("the mock listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket
}

fn post(body: &str, last: bool) -> String {
    let close = if last { "connection: close\r\n" } else { "" };
    format!("POST /v1/chat/completions HTTP/1.1\r\n{close}content-length: {}\r\n\r\n{body}", body.len())
}

/// Sends bytes on a fresh connection and reads until it closes.
fn exchange(mock: &MockProvider, bytes: &str) -> String {
    let mut socket = connect(mock);
    socket.write_all(bytes.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("no end of the answer: {error}"),
    }
    String::from_utf8(answer).expect("UTF-8")
}

fn ask(mock: &MockProvider, body: &Value) -> String {
    exchange(mock, &post(&body.to_string(), true))
}

fn start() -> MockProvider {
    MockProvider::start().expect("a free port")
}

/// Each case on a server of its own, so that its ids begin at 1.
fn check(body: &Value, expected: Expect) {
    expected.assert_eq(&ask(&start(), body).replace('\r', ""));
}

fn workers() -> Value {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}});
    json!([tool("transfer_to_worker_a"), tool("transfer_to_worker_b")])
}

#[test]
fn a_text_as_one_document_and_as_a_stream() {
    check(
        &json!({"model": "mock-txt-t3", "messages": []}),
        expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        x-request-id: req_1
        content-length: 301

        {"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock-txt-t3","choices":[{"index":0,"message":{"role":"assistant","content":"token token token ","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}"#]],
    );
    check(
        &json!({"model": "mock-txt-t2-c4", "messages": [], "stream": true, "stream_options": {"include_usage": true}}),
        expect![[r#"
            HTTP/1.1 200 OK
            content-type: text/event-stream; charset=utf-8
            cache-control: no-cache
            transfer-encoding: chunked

            3d6
            data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-txt-t2-c4","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}

            data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-txt-t2-c4","choices":[{"index":0,"delta":{"content":"xxx "},"logprobs":null,"finish_reason":null}]}

            data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-txt-t2-c4","choices":[{"index":0,"delta":{"content":"xxx "},"logprobs":null,"finish_reason":null}]}

            data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-txt-t2-c4","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

            data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-txt-t2-c4","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}

            data: [DONE]


            0

        "#]],
    );
}

#[test]
fn a_supervisor_hands_off_twice_and_ends() {
    let mut request =
        json!({"model": "mock-sup", "messages": [{"role": "user", "content": "go"}], "tools": workers()});
    check(
        &request,
        expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        x-request-id: req_1
        content-length: 399

        {"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock-sup","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"transfer_to_worker_a","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}"#]],
    );
    let done = |name: &str| json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}]});
    let history = request["messages"].as_array_mut().expect("a list");
    history.push(done("transfer_to_worker_a"));
    request["stream"] = json!(true);
    check(
        &request,
        expect![[r#"
        HTTP/1.1 200 OK
        content-type: text/event-stream; charset=utf-8
        cache-control: no-cache
        transfer-encoding: chunked

        395
        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-sup","choices":[{"index":0,"delta":{"role":"assistant","content":null},"logprobs":null,"finish_reason":null}]}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-sup","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1_0","type":"function","function":{"name":"transfer_to_worker_b","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-sup","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"logprobs":null,"finish_reason":null}]}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"mock-sup","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}]}

        data: [DONE]


        0

    "#]],
    );
    request["messages"].as_array_mut().expect("a list").push(done("transfer_to_worker_b"));
    request["stream"] = json!(false);
    check(
        &request,
        expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        x-request-id: req_1
        content-length: 324

        {"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock-sup","choices":[{"index":0,"message":{"role":"assistant","content":"FINAL: both workers have reported. TERMINATE","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}"#]],
    );
}

#[test]
fn arguments_follow_the_schema_in_its_order() {
    let parameters = r#"{"properties":{"task":{"type":"string"},"coworker":{"type":"string"},"é":{"type":"number"},"flag":{"type":"boolean"},"list":{"type":"array"}},"required":["list","task","flag","é"]}"#;
    let body = format!(
        r#"{{"model":"mock-par","messages":[],"tools":[{{"name":"delegate_work","parameters":{parameters}}}]}}"#
    );
    let answer = exchange(&start(), &post(&body, true));
    let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    let calls = &answer["choices"][0]["message"]["tool_calls"];
    for (place, worker) in ["worker_a", "worker_b"].iter().enumerate() {
        let expected = format!(
            r#"{{"list":[],"task":"do your part of the job","flag":false,"é":1,"coworker":"{worker}"}}"#
        );
        assert_eq!(calls[place]["function"]["arguments"], expected);
        assert_eq!(calls[place]["id"], format!("call_1_{place}"));
    }
}

#[test]
fn workers_and_the_selector() {
    let check = |body: Value, expected: &str| {
        let answer = ask(&start(), &body);
        let answer: Value =
            serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        let message = &answer["choices"][0]["message"];
        let said = message["content"].as_str().or(message["tool_calls"][0]["function"]["name"].as_str());
        assert_eq!(said, Some(expected));
    };
    let back = json!([{"type": "function", "function": {"name": "transfer_back_to_supervisor"}}]);
    check(json!({"model": "mock-wrkb", "tools": back}), "transfer_back_to_supervisor");
    check(
        json!({"model": "mock-wrkb"}),
        "[done:worker_b] here is the result of worker_b: the part is finished.",
    );
    let said = |text: &str| json!([{"role": "user", "content": [{"type": "text", "text": text}]}]);
    check(json!({"model": "mock-sel"}), "worker_a");
    check(json!({"model": "mock-sel", "messages": said("[done:worker_a]")}), "worker_b");
    check(json!({"model": "mock-sel", "messages": said("[done:worker_a] [done:worker_b]")}), "closer");
    check(
        json!({"model": "mock-par", "messages": said("[done:worker_a]"), "tools": workers()}),
        "FINAL: both workers have reported. TERMINATE",
    );
}

#[test]
fn a_strict_mock_refuses_unanswered_calls() {
    let mock = MockProvider::start_with(MockOptions { strict: true, ..MockOptions::default() })
        .expect("a free port");
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "x", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "ok"});
    let user = json!({"role": "user", "content": "hi"});
    for (messages, complaint) in [
        (json!([call, result]), ""),
        (json!([call]), "must be followed by tool messages"),
        (json!([call, user, result]), "must be followed by tool messages"),
        (json!([result]), "must be a response to a preceding message"),
        (json!([call, result, result]), "must be a response to a preceding message"),
    ] {
        let answer = ask(&mock, &json!({"model": "mock-txt", "messages": messages}));
        let status = if complaint.is_empty() { "HTTP/1.1 200 OK" } else { "HTTP/1.1 400 Bad Request" };
        assert!(answer.starts_with(status) && answer.contains(complaint), "{messages}: {answer}");
    }
    assert_eq!((mock.stats().requests, mock.stats().errors), (5, 4));
}

/// Would fail if a connection were not kept, or answers came out of order.
#[test]
fn other_routes_and_pipelining() {
    let mock = start();
    let text = exchange(
        &mock,
        &format!(
            "GET /v1/models HTTP/1.1\r\n\r\n{}{}GET /nope HTTP/1.1\r\nconnection: close\r\n\r\n",
            post(r#"{"model":"mock-txt-t1-l20"}"#, false),
            post("{bad", false)
        ),
    );
    let places: Vec<_> = ["\"id\":\"mock-txt\"", "chatcmpl-2", "bad json", "not found"]
        .iter()
        .map(|part| text.find(part))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {text}");
    let stats = exchange(&mock, "GET /stats HTTP/1.1\r\nconnection: close\r\n\r\n");
    let stats: Value = serde_json::from_str(stats.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    assert_eq!((&stats["requests"], &stats["errors"], &stats["conns"]), (&json!(2), &json!(2), &json!(2)));
    assert!(
        stats["bytes_in"].as_u64() > Some(100)
            && stats["bytes_out"].as_u64() > Some(100)
            && stats["wall_s"].is_f64(),
        "{stats}"
    );
    assert!(exchange(&mock, "POST /shutdown HTTP/1.1\r\n\r\n").ends_with("{\"ok\":true}"));
    mock.wait();
}

#[test]
fn repeated_bodies_are_counted() {
    let mock = start();
    for body in [
        r#"{"model":"mock-txt"}"#,
        r#"{"model":"mock-txt" }"#,
        r#"{"model":"mock-txt"}"#,
        r#"{"model":"mock-sel"}"#,
    ] {
        exchange(&mock, &post(body, true));
    }
    let stats = mock.stats();
    assert_eq!((stats.repeated, stats.models["mock-txt"], stats.models["mock-sel"]), (1, 3, 1));
}

fn streamed(model: &str) -> Value {
    json!({"model": model, "messages": [], "stream": true})
}

/// The body of a chunked answer, as far as it came.
fn dechunked(answer: &str) -> (String, usize, bool) {
    let (mut body, mut rest, mut chunks) =
        (String::new(), answer.split_once("\r\n\r\n").map_or("", |(_, body)| body), 0);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return (body, chunks, true);
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
        chunks += 1;
    }
    (body, chunks, false)
}

#[test]
fn faults_of_status() {
    let mock = start();
    let status = |model: &str| ask(&mock, &streamed(model)).split("\r\n").next().map(str::to_owned);
    assert_eq!(status("mock-txt-x500").as_deref(), Some("HTTP/1.1 500 Internal Server Error"));
    assert!(ask(&mock, &streamed("mock-txt-x429r2")).contains("\r\nretry-after: 2\r\n"));
    let each: Vec<_> = (0..4).filter_map(|_| status("mock-txt-x429k2")).collect();
    assert_eq!(
        each,
        [
            "HTTP/1.1 429 Too Many Requests",
            "HTTP/1.1 429 Too Many Requests",
            "HTTP/1.1 200 OK",
            "HTTP/1.1 200 OK"
        ]
    );
    assert!(ask(&mock, &streamed("mock-txt-html")).contains("content-type: text/html"));
}

#[test]
fn faults_inside_a_stream() {
    let mock = start();
    let sound = dechunked(&ask(&mock, &streamed("mock-txt-t5"))).0;
    assert_eq!((sound.matches("data: ").count(), sound.ends_with("data: [DONE]\n\n")), (8, true));
    let anonymous = |text: &str, model: &str| {
        let mut text = text.replace(model, "MODEL");
        while let Some(at) = text.find("chatcmpl-") {
            let end = text[at..].find('"').expect("a closing quote");
            text.replace_range(at..at + end, "ID");
        }
        text
    };
    let sound = anonymous(&sound, "mock-txt-t5");
    let check = |model: &str, kept: Option<usize>, finished: bool| {
        let (body, _, ended) = dechunked(&ask(&mock, &streamed(model)));
        let body = anonymous(&body, model);
        let events = body.matches("data: ").count();
        assert_eq!((kept.unwrap_or(events), ended), (events, finished), "{model}: {body}");
        body
    };
    assert!(sound.starts_with(&check("mock-txt-t5-cut3", Some(3), false)));
    assert_eq!(
        check("mock-txt-t5-cut3-k1", Some(3), false).len(),
        check("mock-txt-t5-cut3", Some(3), false).len()
    );
    assert_eq!(check("mock-txt-t5-cut3-k1", Some(8), true), sound);
    assert_eq!(dechunked(&ask(&mock, &streamed("mock-txt-t5-cutb17"))).0, r#"data: {"id":"chat"#);
    let failed = check("mock-txt-t5-err2", Some(3), true);
    assert!(failed.ends_with("\"code\":\"mock_failure\"}}\n\n"), "{failed}");
    let endless = check("mock-txt-t5-noend", Some(6), true);
    assert!(sound.starts_with(&endless) && !endless.contains("DONE"));
    let answer = ask(&mock, &streamed("mock-txt-t5-odd7"));
    let (body, chunks, _) = dechunked(&answer);
    assert_eq!(anonymous(&body, "mock-txt-t5-odd7"), sound);
    assert!(chunks > body.len() / 8, "{chunks} pieces");
    let plain = ask(&mock, &json!({"model": "mock-txt-cut1"}));
    let (head, body) = plain.split_once("\r\n\r\n").expect("a head");
    assert!(
        head.contains("200 OK") && !body.is_empty() && serde_json::from_str::<Value>(body).is_err(),
        "{plain}"
    );
}

/// Would fail if a hanging answer said anything, an endless one ended, or either outlived the server.
#[test]
fn faults_without_end() {
    let mock = start();
    let read = |model: &str, enough: usize| {
        let mut socket = connect(&mock);
        socket.write_all(post(&streamed(model).to_string(), false).as_bytes()).expect("it reads");
        socket
            .set_read_timeout(Some(Duration::from_millis(if enough == usize::MAX { 200 } else { 20_000 })))
            .expect("a timeout");
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while answer.len() < enough {
            match socket.read(&mut piece) {
                Ok(0) => panic!("{model} closed the connection"),
                Ok(bytes) => answer.extend_from_slice(&piece[..bytes]),
                Err(_) => break,
            }
        }
        (String::from_utf8_lossy(&answer).into_owned(), socket)
    };
    let (nothing, hanging) = read("mock-txt-hang", usize::MAX);
    assert_eq!(nothing, "");
    assert_eq!(read("mock-txt-hang3", usize::MAX).0.matches("data: ").count(), 3);
    assert!(read("mock-txt-endless", 200_000).0.len() >= 200_000);
    mock.shutdown();
    let mut hanging = hanging;
    hanging.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    assert!(matches!(hanging.read(&mut [0; 1]), Ok(0)) || hanging.read(&mut [0; 1]).is_err());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is measured is a process with a clock of its own")]
fn answers_take_the_time_their_name_says() {
    let mock = start();
    for (model, least) in [("mock-txt-l80", 80), ("mock-txt-t3-d20", 100), ("mock-echo-l120", 120)] {
        let started = Instant::now();
        ask(&mock, &streamed(model));
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(least), "{model} took {took:?}");
    }
}

#[test]
fn an_echo_is_written_from_the_prompt() {
    let mock = start();
    let say = |prompt: &str| {
        let answer =
            ask(&mock, &json!({"model": "mock-echo", "messages": [{"role": "user", "content": prompt}]}));
        let answer: Value =
            serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        answer["choices"][0]["message"]["content"].as_str().expect("words").to_owned()
    };
    let prompt = "<request>\nA tea timer with bells\n</request>\nWrite at most 90 words.\nUse exactly these headings, in this order:\n## Goal\n## Risks\n";
    let text = say(prompt);
    assert!(text.starts_with("*echo-") && text.contains("tea timer") && text.contains("bells"), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.starts_with("## ")).collect::<Vec<_>>(),
        ["## Goal", "## Risks"]
    );
    assert!((30..=90).contains(&text.split_whitespace().count()), "{text}");
    assert_eq!(text, say(prompt));
    assert_ne!(text.lines().next(), say(&prompt.replace("bells", "Bells")).lines().next());
    assert!(say("写一个语音面试助手").contains("语音面试助手"));

    let tools = json!([{"type": "function", "function": {"name": "web_search", "parameters": {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}}}]);
    let mut request = json!({"model": "mock-echo", "tools": tools, "messages": [{"role": "user", "content": "web search for brass chimes"}]});
    let answer = ask(&mock, &request);
    assert!(answer.contains(r#""name":"web_search""#) && answer.contains("tool_calls"), "{answer}");
    let messages = request["messages"].as_array_mut().expect("a list");
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}]}));
    messages
        .push(json!({"role": "tool", "tool_call_id": "c1", "content": "Foundries near Turin cast chimes."}));
    let answer = ask(&mock, &request);
    assert!(answer.contains("Turin"), "{answer}");
}
