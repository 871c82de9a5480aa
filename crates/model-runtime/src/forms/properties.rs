use proptest::prelude::*;

use super::{
    spoken::Spoken,
    stage::{NOTHING, SCHEMA, outcome, show, text, with_tools},
};
use crate::{ChatEvent, StreamEnding};

/// Cuts `whole` at the places that `cuts` names.
fn pieces(whole: &str, cuts: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = cuts
        .iter()
        .map(|cut| whole.floor_char_boundary(cut % (whole.len() + 1)))
        .chain([0, whole.len()])
        .collect();
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| whole[pair[0]..pair[1]].to_owned())
        .filter(|piece| !piece.is_empty())
        .collect()
}

proptest! {
    /// Would fail if what stands in the message depended on how the network cut it.
    #[test]
    fn cuts_change_nothing(
        whole in prop_oneof![
            ".{0,20}".prop_map(|answer| serde_json::json!({ "answer": answer }).to_string()),
            Just(r#"{"answer": "\ud83d\ude00 \u00e9\"\\ \ud83d x"}"#.to_owned()),
            Just(r#"[{"tool":"add","arguments":{"a":1}},{"tool":"now","arguments":{}}]"#.to_owned()),
            Just("```json\n{'tool': 'add'}\n```".to_owned()),
            Just("{\"tool\":\"add\",\"arg".to_owned()),
            "[ -~]{0,20}",
        ],
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        held in any::<bool>(),
    ) {
        let abilities = if held { SCHEMA } else { NOTHING };
        let end = |pieces: &[&str]| {
            let (_, events) = outcome(abilities, with_tools(), text(pieces, StreamEnding::Finished));
            let told: String = events.iter().map(|event| match event {
                ChatEvent::Text(text) => text.to_string(),
                _ => String::new(),
            }).collect();
            (events.last().map(|end| show(std::slice::from_ref(end))), told)
        };
        let pieces = pieces(&whole, &cuts);
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(end(&pieces), end(&[&whole]));
    }

    /// Would fail if an escape were lost or shown half.
    #[test]
    fn the_growing_answer_is_the_answer(answer in ".{0,30}", ascii in any::<bool>(), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let mut whole = serde_json::json!({ "answer": answer }).to_string();
        if ascii {
            let escaped = |unit: u16| format!("\\u{unit:04x}");
            whole = whole.chars().map(|c| if c.is_ascii() { c.to_string() } else {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| escaped(*unit)).collect()
            }).collect();
        }
        let mut spoken = Spoken::default();
        let said: String = pieces(&whole, &cuts).iter().map(|piece| spoken.feed(piece)).collect();
        prop_assert_eq!(said, answer);
    }
}
