//! English verbs and the small words round them.

/// Words at which a request comes apart.
pub(super) const BREAKS: &[&str] = &[
    "for", "that", "which", "who", "where", "whose", "with", "to", "about", "on", "using", "in", "without",
    "so", "because", "and", "from",
];

/// Whether a clause in a list of clauses begins with a verb that has an object, unlike "soils and rain".
pub(super) fn acts(clause: &str) -> bool {
    clause.split(' ').nth(1).is_some_and(|second| !BREAKS.contains(&second)) && base_form(clause).is_some()
}

/// A clause that begins with a verb in the third person or a modal, with the verb in its base form.
pub(super) fn base_form(clause: &str) -> Option<String> {
    for modal in ["can ", "could ", "will ", "must ", "should ", "may "] {
        if let Some(rest) = clause.strip_prefix(modal) {
            return Some(rest.to_owned());
        }
    }
    let words: Vec<&str> = clause.split(' ').collect();
    let mut out = vec![base_verb(words[0])?];
    for (place, word) in words.iter().enumerate().skip(1) {
        let joined = ["and", "or", "then"].contains(&words[place - 1]);
        let object = words.get(place + 1).is_some_and(|next| !BREAKS.contains(next));
        out.push(base_verb(word).filter(|_| joined && object).unwrap_or_else(|| (*word).to_owned()));
    }
    Some(out.join(" "))
}

fn base_verb(word: &str) -> Option<String> {
    let irregular = [("is", "be"), ("are", "be"), ("has", "have"), ("does", "do"), ("goes", "go")];
    if let Some((_, base)) = irregular.iter().find(|(form, _)| *form == word) {
        return Some((*base).to_owned());
    }
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']))?;
    if !stem.chars().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    if let Some(short) = stem.strip_suffix("ie").filter(|short| short.len() > 1) {
        return Some(format!("{short}y"));
    }
    let hissing = ["che", "she", "sse", "xe", "zze"].iter().any(|ending| stem.ends_with(ending));
    Some(if hissing { stem[..stem.len() - 1].to_owned() } else { stem.to_owned() })
}
