use super::language::Language;

/// The line that says what this is, from the longest form to the shortest.
fn notices(language: Language) -> [&'static str; 3] {
    language.pick(
        [
            "*Rehearsal: no language model wrote this. Choose a real one with `-m provider/model`.*",
            "*Rehearsal. Real model: `-m provider/model`*",
            "*Rehearsal*",
        ],
        [
            "*彩排：这段文字不是语言模型写的，换成真实模型请用 `-m provider/model`。*",
            "*彩排，真实模型用 `-m provider/model`*",
            "*彩排*",
        ],
    )
}

/// The longest notice that leaves room for the answer.
pub(super) fn notice(language: Language, limit: usize, headings: usize) -> &'static str {
    let [long, middle, short] = notices(language);
    let room = limit.saturating_sub(headings);
    [(long, 4), (middle, 1)]
        .into_iter()
        .find(|(form, times)| language.count_words(form) * times <= room)
        .map_or(short, |(form, _)| form)
}
