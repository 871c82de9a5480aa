//! Takes an English request apart by its small words.

use super::{
    brief::Brief,
    verbs::{BREAKS, acts, base_form},
};

const LEADS: &[&str] = &[
    "please",
    "i want",
    "we want",
    "i need",
    "we need",
    "i would like",
    "we would like",
    "i'd like",
    "we'd like",
    "i am looking for",
    "we are looking for",
    "can you",
    "could you",
    "help me",
    "help us",
    "to",
    "build",
    "make",
    "create",
    "develop",
    "design",
    "write",
    "give",
    "me",
    "us",
    "have",
];
const ARTICLES: [&str; 6] = ["a", "an", "the", "my", "our", "some"];
/// Verbs that open a request for words rather than for a thing.
const VERBS: &[&str] = &[
    "explain",
    "write",
    "describe",
    "translate",
    "compare",
    "tell",
    "plan",
    "help",
    "analyse",
    "analyze",
    "find",
    "list",
    "draft",
    "review",
    "show",
    "fix",
    "improve",
    "summarise",
    "summarize",
    "use",
    "make",
    "build",
    "create",
    "design",
    "what",
    "why",
    "how",
    "when",
    "who",
    "where",
    "which",
    "is",
    "are",
    "do",
    "does",
    "can",
    "let",
    "give",
    "search",
    "calculate",
    "work",
    "think",
    "answer",
    "choose",
    "decide",
    "and",
    "should",
    "please",
    "say",
    "teach",
    "call",
];
const RELATIVE: [&str; 3] = ["that", "which", "who"];
const MODALS: &[&str] =
    &["must ", "should ", "can ", "has to ", "have to ", "needs to ", "need to ", "will "];
const PEOPLE: &[&str] = &[
    "people",
    "children",
    "kids",
    "friends",
    "families",
    "teams",
    "nurses",
    "parents",
    "men",
    "women",
    "everybody",
    "everyone",
    "someone",
    "colleagues",
    "couples",
    "schools",
    "clinics",
    "shops",
    "companies",
    "neighbours",
    "hikers",
];
const LONGEST_NAME: usize = 7;
const LONGEST_TASK: usize = 14;

pub(super) fn read(sentences: &[String]) -> Brief {
    let named = |sentence: &String| thing(sentence).is_some();
    let asked = sentences.iter().position(|sentence| named(sentence) && strip_leads(sentence) != sentence);
    let main = asked.or_else(|| sentences.iter().position(named)).unwrap_or(0);
    let mut brief = Brief::default();
    let Some(sentence) = sentences.get(main) else { return brief };
    if let Some((name, rest)) = thing(sentence) {
        brief.thing = true;
        brief.tasks = tasks(&rest);
        let full = format!("{name} {}", rest.join(" "));
        let short =
            !rest.is_empty() && rest.len() <= 8 && full.len() <= 90 && !full.contains([',', ';', ':']);
        brief.full = Some(full).filter(|_| short);
        brief.name = name;
    } else if sentence.split(' ').count() <= 12 && sentence.len() <= 120 {
        brief.name.clone_from(sentence);
    }
    for (_, sentence) in sentences.iter().enumerate().filter(|(place, _)| *place != main) {
        let words = sentence.split(' ').count();
        match required(sentence) {
            Some(task) if words <= LONGEST_TASK => brief.tasks.push(task),
            _ if (4..=22).contains(&words) && sentence.len() <= 200 => brief.notes.push(sentence.clone()),
            _ => {}
        }
    }
    brief
}

/// The request without "I want to build" and the like; as it was when no article follows.
fn strip_leads(sentence: &str) -> &str {
    let mut rest = sentence;
    while let Some(after) = LEADS.iter().find_map(|lead| after_word(rest, lead)) {
        rest = after;
    }
    if ARTICLES.iter().any(|article| after_word(rest, article).is_some()) { rest } else { sentence }
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = text.get(..word.len())?;
    start.eq_ignore_ascii_case(word).then(|| text[word.len()..].strip_prefix(' '))?
}

/// The name of the thing a sentence asks for, and the words after it.
fn thing(sentence: &str) -> Option<(String, Vec<String>)> {
    let asked = strip_leads(sentence);
    let article = ARTICLES.iter().find_map(|article| after_word(asked, article));
    let words: Vec<String> = article.unwrap_or(asked).split(' ').map(str::to_owned).collect();
    let verb = VERBS.contains(&lower(words.first()?).as_str());
    let mut end = words.iter().position(|word| BREAKS.contains(&lower(word).as_str())).unwrap_or(words.len());
    if let Some(comma) = words.iter().position(|word| word.ends_with([',', ':', ';'])) {
        end = end.min(comma + 1);
    }
    let broken = end < words.len() && words[end] != "to";
    let fits = (1..=LONGEST_NAME).contains(&end) && (article.is_some() || (!verb && broken));
    let mut name = words.get(..end).filter(|_| fits)?.join(" ").trim_end_matches([',', ':', ';']).to_owned();
    if article.is_none() && name.chars().nth(1).is_some_and(char::is_lowercase) {
        name = name.chars().take(1).flat_map(char::to_lowercase).chain(name.chars().skip(1)).collect();
    }
    (name.len() <= 80 && name.chars().any(char::is_alphanumeric)).then(|| (name, words[end..].to_vec()))
}

fn lower(word: &str) -> String {
    word.trim_end_matches([',', ';', ':']).to_lowercase()
}

/// What the words after the name say it is to do.
fn tasks(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut marker, mut at) = (String::new(), 0);
    while at < words.len() {
        let after_comma = at > 0 && words[at - 1].ends_with([',', ';', ':']);
        while words.get(at).is_some_and(|word| after_comma && ["and", "or"].contains(&lower(word).as_str())) {
            at += 1;
        }
        let inherited = words.get(at).is_none_or(|word| !BREAKS.contains(&lower(word).as_str()));
        if !inherited {
            marker = lower(&words[at]);
            at += 1;
        }
        let start = at;
        while at < words.len() {
            let word = lower(&words[at]);
            let relative = RELATIVE.contains(&marker.as_str());
            let opens = RELATIVE.contains(&word.as_str())
                || word == "where"
                || word == "so"
                || word == "with"
                || word == "because";
            let ended = at > start && words[at - 1].ends_with([',', ';', ':']);
            if at > start && (ended || (opens && !relative)) {
                break;
            }
            at += 1;
        }
        let clause = words[start.min(at)..at].join(" ");
        let clause = clause.trim_end_matches([',', ';', ':', ' ']).trim_end_matches(" and");
        let size = clause.split(' ').count();
        if clause.is_empty() || size > LONGEST_TASK || clause.len() > 140 {
            continue;
        }
        let relative = RELATIVE.contains(&marker.as_str());
        match (task(&marker, clause), found.last_mut()) {
            (_, Some(last)) if inherited && relative && !acts(clause) => {
                last.push_str(", ");
                last.push_str(clause);
            }
            (Some(task), _) => found.push(task),
            (None, _) => {}
        }
    }
    found
}

/// The verb phrase that a clause and the small word before it come to.
fn task(marker: &str, clause: &str) -> Option<String> {
    Some(match marker {
        "that" | "which" | "who" => base_form(clause).unwrap_or_else(|| format!("be one {marker} {clause}")),
        "to" => clause.to_owned(),
        "for" => match clause.split_once(" to ") {
            Some((people, act)) if is_people(people) => format!("let {people} {act}"),
            _ if is_people(clause) => format!("serve {clause}"),
            _ => format!("help with {clause}"),
        },
        "with" | "using" => format!("work with {clause}"),
        "about" => format!("deal with {clause}"),
        "where" => format!("be a place where {clause}"),
        _ => return None,
    })
}

/// Whether the words before a preposition end in people.
fn is_people(clause: &str) -> bool {
    let head = clause
        .split(' ')
        .take_while(|word| !BREAKS.contains(word) && !["at", "under", "over", "of"].contains(word));
    let last = head.last().unwrap_or_default().to_lowercase();
    PEOPLE.contains(&last.as_str())
        || ["ers", "ors", "ists", "ants", "dents", "ients", "ians"]
            .iter()
            .any(|ending| last.ends_with(ending))
}

/// What a sentence like "It must work offline" or "Users can share a list" requires.
fn required(sentence: &str) -> Option<String> {
    let (place, modal) =
        MODALS.iter().filter_map(|modal| Some((sentence.find(&format!(" {modal}"))?, modal))).min()?;
    let (who, act) = (&sentence[..place], &sentence[place + 1 + modal.len()..]);
    let act = act.strip_prefix("be able to ").unwrap_or(act);
    if act.starts_with("not ") || act.starts_with("never ") || act.contains([',', ';', ':']) {
        return None;
    }
    let own =
        ["It", "The app", "The tool", "The program", "The site", "The website", "The system", "The software"];
    let users = ["Users", "People", "Customers", "Members", "Students", "Players", "Staff"];
    if own.contains(&who) {
        return Some(act.to_owned());
    }
    (users.contains(&who) && !act.starts_with("be ")).then(|| format!("let {} {act}", who.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_apart_at_their_small_words() {
        for (request, name, tasks) in [
            ("an AI trainer for job interviews", "AI trainer", &["help with job interviews"][..]),
            ("a garden planner that knows frost dates", "garden planner", &["know frost dates"]),
            (
                "a tool that splits restaurant bills among friends",
                "tool",
                &["split restaurant bills among friends"],
            ),
            (
                "A calm app for busy nurses in rural clinics",
                "calm app",
                &["serve busy nurses in rural clinics"],
            ),
            ("a map for nurses to swap shifts", "map", &["let nurses swap shifts"]),
            (
                "Please build a coach that asks questions and scores answers, with a diary",
                "coach",
                &["ask questions and score answers", "work with a diary"],
            ),
            (
                "a planner that knows frost dates, soils and rain",
                "planner",
                &["know frost dates, soils and rain"],
            ),
            ("I want to make an app my mother likes", "app my mother likes", &[]),
            ("Smart mirror for gyms", "smart mirror", &["help with gyms"]),
            ("a tea timer", "tea timer", &[]),
            ("a quiet map of night buses in town", "quiet map of night buses", &[]),
        ] {
            let brief = read(&[request.to_owned()]);
            assert_eq!((brief.name.as_str(), brief.thing), (name, true), "{request}");
            assert_eq!(brief.tasks, tasks, "{request}");
        }
        for request in ["Explain tides to children", "Hello there", "Why is the sky blue"] {
            let brief = read(&[request.to_owned()]);
            assert_eq!((brief.name.as_str(), brief.thing, brief.tasks), (request, false, vec![]));
        }
        let brief = read(
            &[
                "We run a bakery",
                "We want an app for our customers",
                "It must work offline",
                "Bread is sold out by ten every day",
            ]
            .map(str::to_owned),
        );
        assert_eq!(brief.tasks, ["serve our customers", "work offline"]);
        assert_eq!(
            (brief.name.as_str(), brief.notes),
            ("app", vec!["We run a bakery".to_owned(), "Bread is sold out by ten every day".to_owned()])
        );
    }
}
