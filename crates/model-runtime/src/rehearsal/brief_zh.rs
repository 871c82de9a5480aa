//! Takes a Chinese request apart at its measure words, at the last 的 and at its punctuation.

use super::{brief::Brief, language::Language};

const MEASURES: &[&str] =
    &["一个", "一款", "一种", "一套", "一份", "一首", "一篇", "一台", "一项", "个", "款", "套"];
const ASKING: &[&str] = &[
    "做", "要", "想要", "开发", "设计", "写", "建", "搭建", "实现", "需要", "制作", "打造", "来", "给我",
    "有",
];
const PREFIXES: &[&str] = &[
    "并且", "而且", "同时", "还要", "还能", "另外", "以及", "并", "还", "也", "它", "最好", "要能", "能够",
    "可以", "能", "需要", "应该", "必须", "要", "会", "用来", "用于", "专门", "请",
];
const LONGEST_NAME: usize = 14;
const LONGEST_TASK: usize = 22;

pub(super) fn read(sentences: &[String]) -> Brief {
    let clauses: Vec<Vec<&str>> = sentences
        .iter()
        .map(|sentence| {
            sentence
                .split(['，', ',', '；', '：'])
                .map(str::trim)
                .filter(|clause| !clause.is_empty())
                .collect()
        })
        .collect();
    let places = || {
        clauses.iter().enumerate().flat_map(|(row, list)| (0..list.len()).map(move |column| (row, column)))
    };
    let measured = places().find(|&(row, column)| measured(clauses[row][column]).is_some());
    let Some((row, column)) = measured.or_else(|| places().next()) else { return Brief::default() };
    let mut brief = subject(clauses[row][column]);
    for (place, list) in clauses.iter().enumerate() {
        if list.len() == 1 && place != row {
            let size = Language::Chinese.count_words(list[0]);
            match starts_as_task(list[0]) {
                Some(task) if size <= LONGEST_TASK => brief.tasks.push(task.to_owned()),
                _ if (4..=36).contains(&size) => brief.notes.push(list[0].to_owned()),
                _ => {}
            }
            continue;
        }
        let whole = list.join("，");
        if place != row && Language::Chinese.count_words(&whole) <= 36 && starts_as_task(list[0]).is_none() {
            brief.notes.push(whole);
            continue;
        }
        let parts = list.iter().enumerate().filter(|(at, _)| place != row || *at > column);
        for part in parts.map(|(_, clause)| starts_as_task(clause).unwrap_or(clause)) {
            if (2..=LONGEST_TASK).contains(&Language::Chinese.count_words(part)) && part.len() <= 120 {
                brief.tasks.push(part.to_owned());
            }
        }
    }
    brief
}

/// A clause without the words that only join or demand; none when it has no such words.
fn starts_as_task(clause: &str) -> Option<&str> {
    let mut rest = clause;
    while let Some(after) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = after;
    }
    (rest.len() < clause.len() && !rest.is_empty()).then_some(rest)
}

/// What stands behind "做一个" and the like.
fn measured(clause: &str) -> Option<(&'static str, &str)> {
    let asked = |before: &str| before.is_empty() || ASKING.iter().any(|verb| before.ends_with(verb));
    MEASURES.iter().find_map(|measure| {
        let (before, after) = clause.split_once(measure)?;
        let unit = measure.strip_prefix('一').unwrap_or(measure);
        (asked(before.trim()) && before.chars().count() <= 16 && !after.is_empty())
            .then_some((unit, after.trim()))
    })
}

/// The name of the thing a clause asks for, and what stands before it.
fn subject(clause: &str) -> Brief {
    let asked = measured(clause);
    let (measure, text) = asked.unwrap_or(("", clause));
    let mut brief = Brief { measure, ..Brief::default() };
    let size = |text: &str| text.chars().count();
    if let Some((head, tail)) = text.rsplit_once('的')
        && (1..=10).contains(&size(tail))
        && size(head) > 1
    {
        tail.clone_into(&mut brief.name);
        brief.thing = true;
        brief.full = Some(text.to_owned()).filter(|_| size(head) <= 12);
        let task = starts_as_task(head).unwrap_or(head);
        brief.tasks.extend(
            Some(task.to_owned()).filter(|task| size(task) <= LONGEST_TASK && !task.starts_with("关于")),
        );
    } else if asked.is_some() && size(text) <= LONGEST_NAME {
        text.clone_into(&mut brief.name);
        brief.thing = true;
    } else if size(text) <= LONGEST_TASK {
        text.clone_into(&mut brief.name);
    }
    brief
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_apart_at_their_measure_words() {
        for (request, name, thing, tasks) in [
            ("一个帮助老人按时吃药的小程序", "小程序", true, &["帮助老人按时吃药"][..]),
            ("一个面试陪练的人工智能", "人工智能", true, &["面试陪练"]),
            ("我想做一款能够识别植物的应用，还要提醒浇水", "应用", true, &["识别植物", "提醒浇水"]),
            ("面试训练助手，支持语音问答", "面试训练助手", false, &["支持语音问答"]),
            ("用 React 做一个网页", "网页", true, &[]),
            ("帮我写一首关于春天的诗", "诗", true, &[]),
            ("解释潮汐", "解释潮汐", false, &[]),
        ] {
            let brief = read(&[request.to_owned()]);
            assert_eq!((brief.name.as_str(), brief.thing), (name, thing), "{request}");
            assert_eq!(brief.tasks, tasks, "{request}");
        }
        let brief = read(
            &[
                "我们村有一家小面包店",
                "想要一个让老客户预订面包的网页",
                "必须不用注册",
                "面包每天十点前就卖光",
            ]
            .map(str::to_owned),
        );
        assert_eq!((brief.name.as_str(), brief.thing), ("网页", true));
        assert_eq!(brief.tasks, ["让老客户预订面包", "不用注册"]);
        assert_eq!(brief.notes, ["我们村有一家小面包店", "面包每天十点前就卖光"]);
    }
}
