//! Finds what a text is about: key phrases by frequency, without a dictionary.

use std::collections::HashMap;

use super::language::{Language, is_han};

/// Text beyond this many characters is not looked at, so that the cost of an answer is bounded.
const HORIZON: usize = 24_000;
const LONGEST: usize = 8;

const STOP_WORDS: &str = " a about above after again all also an and any are as at be because been before being below but by can \
could did do does doing each every few for from further get give had has have having he her here his how i if in into is it its \
just like make made may me might more most must my need needs no nor not of off on once one only or other our out over own part please same \
shall she should so some such than that the their them then there these they this those through to too under until up us use used \
uses using very want was we were what when where which while who whom why will with would you your ";

const STOP_PAIRS: &[&str] = &[
    "一个", "一种", "一款", "一些", "我们", "你们", "他们", "它们", "可以", "能够", "需要", "如果", "因为",
    "所以", "但是", "以及", "或者", "并且", "这个", "那个", "这些", "那些", "什么", "怎么", "没有", "不是",
    "就是", "还是", "进行", "通过", "由于", "对于", "关于", "根据", "希望", "想要", "使用", "应该", "必须",
    "其中", "之前", "之后", "几个", "面向", "支持",
];
const STOP_CHARS: &str = "的了和是在与或及我你他她它们这那就都而着把被让给从向于以请帮做也很只吗呢吧啊没";
/// Words that hold one of these characters and mean something.
const KEPT_PAIRS: &[&str] = &[
    "在线", "存在", "行为", "作为", "方向", "参与", "就业", "成就", "首都", "成都", "供给", "以上", "以下",
    "以内", "及时", "和平", "做法", "帮助", "从业", "做事", "让利", "没收", "地址", "自我",
];

/// The key phrases of a text, the most telling first, each once.
pub(super) fn phrases(text: &str, most: usize) -> Vec<String> {
    let text = horizon(text);
    let mut ranked = match Language::of(text) {
        Language::English => rank(english(text)),
        Language::Chinese => rank(chinese(text)),
    };
    if ranked.is_empty() {
        let short = clip(&plain(text), Language::of(text), 4, 8);
        ranked.extend(Some(short).filter(|short| short.chars().any(char::is_alphanumeric)));
    }
    ranked.truncate(most);
    ranked
}

/// One line of plain words: no markup, no quotation marks, no final stop.
pub(super) fn plain(text: &str) -> String {
    let marks = |c: char| {
        matches!(c, '#' | '*' | '`' | '_' | '|' | '<' | '>' | '[' | ']' | '{' | '}' | '\\') || c.is_control()
    };
    let spaced: String = text.chars().map(|c| if marks(c) { ' ' } else { c }).collect();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = words.trim_start_matches(['-', '+', '•', ' ']);
    listed
        .trim_end_matches(['.', '。', '！', '？', '；', ';', ':', '：', ',', '，', ' ', '!', '?'])
        .to_owned()
}

/// The beginning of a text: `words` words of English, `characters` characters of Chinese.
fn clip(text: &str, language: Language, words: usize, characters: usize) -> String {
    match language {
        Language::English => {
            let kept: Vec<&str> = text.split_whitespace().take(words).collect();
            kept.join(" ")
                .chars()
                .take(words * 16)
                .collect::<String>()
                .trim_end_matches([',', ';'])
                .to_owned()
        }
        Language::Chinese => {
            let kept: String = text.chars().take(characters).collect();
            kept.trim_end_matches(['，', '、', '：', '（', ' ']).to_owned()
        }
    }
}

/// The part of a text that is looked at.
pub(super) fn horizon(text: &str) -> &str {
    text.char_indices().nth(HORIZON).map_or(text, |(end, _)| &text[..end])
}

/// The lines that carry prose: no headings, no quotations, nothing in a fence, no line in emphasis as a whole.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().map(str::trim).filter(move |line| {
        if line.starts_with("```") {
            fenced = !fenced;
            return false;
        }
        let emphasis = line.starts_with('*') && line.ends_with('*');
        !(fenced || emphasis || line.is_empty() || line.starts_with(['#', '>']))
    })
}

/// Counts candidates regardless of case. Those in quotation marks come first: somebody chose them; then
/// those that are frequent and long.
fn rank(candidates: Vec<(String, bool)>) -> Vec<String> {
    struct Seen {
        quoted: bool,
        score: usize,
        place: usize,
        phrase: String,
    }
    let mut seen: HashMap<String, Seen> = HashMap::new();
    for (place, (phrase, quoted)) in candidates.into_iter().enumerate() {
        let words = phrase.split(' ').count().max(phrase.chars().filter(|&c| is_han(c)).count().div_ceil(2));
        let known =
            seen.entry(phrase.to_lowercase()).or_insert(Seen { quoted: false, score: 0, place, phrase });
        known.score += 1 + words;
        known.quoted |= quoted && words > 1;
    }
    let mut ranked: Vec<Seen> = seen.into_values().collect();
    ranked.sort_by_key(|seen| (!seen.quoted, usize::MAX - seen.score, seen.place));
    // Enough chosen phrases make the others noise.
    if ranked.iter().filter(|seen| seen.quoted).count() > 3 {
        ranked.retain(|seen| seen.quoted);
    }
    ranked.into_iter().map(|seen| seen.phrase).collect()
}

fn english(text: &str) -> Vec<(String, bool)> {
    let (mut found, mut run) = (Vec::new(), Vec::<&str>::new());
    let mut flush = |run: &mut Vec<&str>, quoted: bool| {
        for part in run.chunks(4) {
            if part.len() > 1 || part[0].chars().count() > 3 || part[0].chars().all(char::is_uppercase) {
                found.push((part.join(" "), quoted));
            }
        }
        run.clear();
    };
    for line in prose(text) {
        let mut quoted = false;
        for piece in line.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '’')))
        {
            let mark =
                piece.chars().next_back().filter(|c| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '’')));
            let word = mark
                .map_or(piece, |mark| &piece[..piece.len() - mark.len_utf8()])
                .trim_matches(['-', '\'', '’']);
            let stop = word.is_empty() || STOP_WORDS.contains(&format!(" {} ", word.to_lowercase()));
            if stop {
                flush(&mut run, quoted);
            } else {
                run.push(word);
            }
            match mark {
                Some('“') => {
                    flush(&mut run, quoted);
                    quoted = true;
                }
                Some('”') => {
                    flush(&mut run, quoted);
                    quoted = false;
                }
                Some(' ') | None => {}
                Some(_) => flush(&mut run, quoted),
            }
        }
        flush(&mut run, quoted);
    }
    found
}

fn chinese(text: &str) -> Vec<(String, bool)> {
    let mut pieces: Vec<(Vec<char>, bool)> = Vec::new();
    for line in prose(text) {
        let (mut run, mut quoted) = (Vec::new(), false);
        for c in line.chars() {
            if is_han(c) || c.is_ascii_alphanumeric() {
                run.push(c);
                continue;
            }
            cut(&run, quoted, &mut pieces);
            run.clear();
            quoted = (quoted || c == '“') && c != '”';
        }
        cut(&run, quoted, &mut pieces);
    }
    let repeated = repeated_runs(&pieces);
    pieces
        .iter()
        .filter(|(piece, _)| piece.len() > 1)
        .map(|(piece, quoted)| {
            if piece.len() <= LONGEST || piece.iter().all(char::is_ascii) {
                return (piece.iter().collect(), *quoted);
            }
            let known =
                (2..=6).rev().find_map(|size| piece.windows(size).find(|run| repeated.contains_key(*run)));
            (known.unwrap_or(&piece[piece.len() - LONGEST..]).iter().collect(), *quoted)
        })
        .collect()
}

/// Cuts a run at words that carry no meaning; a quoted run stays whole when it is short.
fn cut(run: &[char], quoted: bool, pieces: &mut Vec<(Vec<char>, bool)>) {
    if quoted && run.len() <= LONGEST {
        pieces.push((run.to_vec(), true));
        return;
    }
    let (mut piece, mut at) = (Vec::new(), 0);
    while at < run.len() {
        let pair: String = run[at..run.len().min(at + 2)].iter().collect();
        let skip =
            if STOP_PAIRS.contains(&pair.as_str()) { 2 } else { usize::from(STOP_CHARS.contains(run[at])) };
        if KEPT_PAIRS.contains(&pair.as_str()) {
            piece.extend(pair.chars());
            at += 2;
        } else if skip == 0 {
            piece.push(run[at]);
            at += 1;
        } else {
            pieces.push((std::mem::take(&mut piece), quoted));
            at += skip;
        }
    }
    pieces.push((piece, quoted));
}

/// The runs of two to six characters that occur more than once.
fn repeated_runs(pieces: &[(Vec<char>, bool)]) -> HashMap<&[char], usize> {
    let mut counts: HashMap<&[char], usize> = HashMap::new();
    for (piece, _) in pieces {
        for size in 2..=6 {
            for run in piece.windows(size).filter(|run| run.iter().all(|&c| is_han(c))) {
                *counts.entry(run).or_default() += 1;
            }
        }
    }
    counts.retain(|_, count| *count > 1);
    counts
}
