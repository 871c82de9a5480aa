use super::{
    contract::Contract,
    facts::{Facts, spoken},
    files,
    notice::notice,
    paper::Paper,
    writer::Writer,
};

/// Sentences of an answer or section when no limit is set.
const UNLIMITED: usize = 4;
const MOST_IN_SECTION: usize = 60;

/// Writes the answer that a contract asks for. `seed` picks the wording.
///
/// The notice and the headings always stand; sentences are added up to five sixths of the limit, and
/// never past nine tenths of it. The contents of files are no prose and do not count.
pub(super) fn compose(contract: &Contract, facts: &Facts, seed: u64) -> String {
    let language = contract.language;
    let limit = contract.words.unwrap_or(usize::MAX);
    let headings: usize =
        contract.headings.iter().map(|heading| language.count_words(&format!("## {heading}"))).sum();
    let notice = notice(language, limit, headings);
    let fixed = headings + language.count_words(notice);
    let ceiling = limit / 10 * 9 + limit % 10 * 9 / 10;
    let target = limit / 6 * 5;
    let spoken = spoken(contract);
    let mut writer = Writer::new(facts, language, &spoken, seed, ceiling, fixed);
    let mut answer = notice.to_owned();
    let sections: Vec<&str> = match contract.headings.as_slice() {
        [] => vec![""],
        some => some.iter().map(String::as_str).collect(),
    };
    for (index, &heading) in sections.iter().enumerate() {
        if !heading.is_empty() {
            answer.push_str("\n\n## ");
            answer.push_str(heading);
        }
        let after = sections.len() - index - 1;
        let share = fixed + target.saturating_sub(fixed) / sections.len() * (index + 1);
        let most = match contract.words {
            _ if contract.files && after == 0 => 2,
            Some(_) => MOST_IN_SECTION,
            None if heading.is_empty() => UNLIMITED,
            None => UNLIMITED + 2,
        };
        let mut section = writer.section(heading, index == sections.len() / 2);
        let mut paper = Paper::default();
        for count in 0..most {
            // A section begins, and a list has an item, as long as room for the sections after it remains.
            let spare = writer.words() + after * language.pick(28, 45) < ceiling;
            let owes = count == 0 || (count < 3 && spare && Writer::owes(&section));
            if contract.words.is_some() && writer.words() >= share && !owes {
                break;
            }
            let Some((form, sentence)) = writer.sentence(&mut section, count) else { break };
            paper.put(form, &sentence, language);
        }
        answer.push_str(&paper.text());
    }
    if contract.files {
        files::append(&mut answer, contract, facts);
    }
    answer
}
