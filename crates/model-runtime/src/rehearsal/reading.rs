//! What a stranger would notice in a relay of stages: torn quotations, repetitions, sections about nothing.

use thermidor_types::Message;

use super::{answer::answer, brief::Brief, facts::Facts, language::Language};
use crate::{ChatRequest, Contract};

const REQUESTS: [&str; 8] = [
    "an AI trainer for job interviews",
    "a garden planner that knows frost dates",
    "a tool that splits restaurant bills among friends",
    "We run a bakery in the mountains and close at noon. We want an app that lets our customers order bread the evening \
     before, shows what is left, and reminds them to come. It must work offline. My mother, who is 71, is to use it alone. \
     No advertising.",
    "一个帮助老人按时吃药的小程序",
    "一个面试陪练的人工智能",
    "夜间公交地图，标出安静座位",
    "我们村有家面包店，中午关门。想要一个让老客户提前预订面包的网页，能看到还剩什么，并提醒他们来取。必须没有网络也能用。不要广告。",
];
const SKILL: [&str; 2] = [
    "# Member\n## Quality criteria\n- A stranger can tell from the first paragraph who would miss it, and at which hour of the day they would do so.\n\
     - At least one thing is refused outright, with a reason.\n- Numbers agree everywhere.\n",
    "# 成员\n## 质量标准\n- 陌生人读完第一段，就能说出谁会想念它。\n- 至少有一件事被直接拒绝，并写明理由。\n- 数字处处一致。\n",
];
const STAGES: [([&str; 2], usize, [&str; 2]); 5] = [
    (
        ["General manager", "总经理"],
        300,
        [
            "User and need|Alternatives|Value and first scope|Risks and measures",
            "用户与需求|替代办法|价值与首版范围|风险与指标",
        ],
    ),
    (
        ["Project manager", "项目经理"],
        400,
        [
            "Goal and scope|Requirements|Milestones and owners|Acceptance criteria|Risks and open questions",
            "目标与范围|需求清单|里程碑与负责人|验收标准|风险与待定问题",
        ],
    ),
    (
        ["Frontend engineer", "前端工程师"],
        500,
        [
            "Architecture|Key technology choices|Interface design|User experience",
            "架构|关键技术选型|界面设计|用户体验",
        ],
    ),
    (
        ["Algorithm engineer", "算法工程师"],
        500,
        [
            "Problem framing|Data|Method and baseline|Evaluation|Serving and interface",
            "问题定义|数据|方法与基线|评测|服务与接口",
        ],
    ),
    (
        ["Ada Byron", "收尾的人"],
        700,
        [
            "Overview|Decisions|Delivery plan|Open questions|Project files",
            "概述|关键决定|交付计划|待定问题|项目文件",
        ],
    ),
];

/// A stage: the prompt, and the answer without its files.
struct Stage {
    language: Language,
    contract: Contract,
    upstream: String,
    text: String,
}

/// The stages of a relay in which each sees all before it.
fn relay(request: &str) -> Vec<Stage> {
    let language = Language::of(request);
    let (mut stages, mut upstream): (Vec<Stage>, String) = (Vec::new(), String::new());
    for (place, (member, words, headings)) in STAGES.into_iter().enumerate() {
        let list = language.pick(headings[0], headings[1]).replace('|', "\n## ");
        let wording = language.pick(
            format!("Write at most {words} words.\nUse exactly these headings, in this order:\n## {list}\n"),
            format!("不超过 {words} 字。\n按顺序使用以下标题：\n## {list}\n"),
        );
        let prompt = format!(
            "<skill name=\"s\">\n{}\n</skill>\n<request>\n{request}\n</request>\n{upstream}\n{wording}",
            language.pick(SKILL[0], SKILL[1])
        );
        let messages = vec![Message::user(prompt)];
        let contract = Contract::read(&messages);
        let text = answer(&ChatRequest { messages, ..ChatRequest::default() }).text;
        stages.push(Stage { language, contract, upstream: upstream.clone(), text: text.clone() });
        let member = language.pick(member[0], member[1]);
        upstream = format!("{upstream}<output stage=\"s{place}\" member=\"{member}\">\n{text}\n</output>\n");
    }
    stages
}

fn every_stage(check: impl Fn(&Stage)) {
    for request in REQUESTS {
        relay(request).iter().for_each(&check);
    }
}

fn quotations(text: &str) -> impl Iterator<Item = &str> {
    text.split('“').skip(1).map(|rest| rest.split_once('”').expect("quotation marks come in pairs").0)
}

/// Prose cut into sentences and items.
fn sentences(stage: &Stage) -> Vec<&str> {
    let lines = stage.text.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with("## "));
    let cut = lines.flat_map(|line| line.split_inclusive(". ").flat_map(|part| part.split_inclusive('。')));
    cut.map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// Would fail if a quotation were torn out of a sentence, or invented, or taken from the rules of the trade.
#[test]
fn quotations_are_whole_sentences_upstream_or_words_of_the_request() {
    every_stage(|stage| {
        let brief = Brief::of(&stage.contract.request, stage.language);
        let facts = Facts::of(&stage.contract);
        let mut rules = 0;
        let upstream = stage.upstream.replace('‘', "“").replace('’', "”");
        for quoted in quotations(&stage.text) {
            let outer = quoted.replace('‘', "“").replace('’', "”");
            let whole = upstream.match_indices(&outer).any(|(place, _)| {
                let (before, after) = (&upstream[..place], &upstream[place + outer.len()..]);
                let starts =
                    before.ends_with(['\n', '。']) || before.ends_with(". ") || before.ends_with("- ");
                starts && after.starts_with(['.', '。', '\n'])
            });
            let asked =
                brief.all().iter().any(|part| part == quoted) || brief.whole.as_deref() == Some(quoted);
            let rule = facts.criteria.iter().any(|rule| rule == quoted);
            rules += usize::from(rule);
            assert!(whole || asked || rule, "“{quoted}” is torn:\n{}", stage.text);
            assert!(rule || !SKILL.iter().any(|skill| skill.contains(quoted)), "“{quoted}” is of the skill");
        }
        assert!(rules <= 1, "{rules} rules:\n{}", stage.text);
        assert!(
            facts.criteria.len() >= 2 && facts.criteria.iter().all(|rule| !rule.contains("hour of the day"))
        );
    });
}

/// Would fail if a section began with something else than the subject.
#[test]
fn every_section_names_its_subject_at_once() {
    every_stage(|stage| {
        let brief = Brief::of(&stage.contract.request, stage.language);
        for section in stage.text.split("\n## ").skip(1) {
            let body = section.split_once('\n').expect("a heading and a body").1.trim();
            let ends = body.match_indices(stage.language.pick(". ", "。")).nth(1);
            let opening = ends.map_or(body, |(end, _)| &body[..end]);
            let named = [Some(&brief.name), brief.whole.as_ref()]
                .into_iter()
                .flatten()
                .any(|name| opening.contains(name));
            assert!(named, "no {:?} in {section}", brief.name);
        }
    });
}

/// Would fail if a stage repeated itself, had little to say, or left out what the request is for.
#[test]
fn a_stage_says_many_things_once() {
    every_stage(|stage| {
        let mut all = sentences(stage);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "{}", stage.text);
        assert!(count >= 7, "{count} sentences:\n{}", stage.text);
        let tasks = Brief::of(&stage.contract.request, stage.language).tasks;
        assert!(tasks.iter().any(|task| stage.text.contains(task)), "{tasks:?}:\n{}", stage.text);
    });
}

/// Would fail if a stage that had something to build on did not take it up.
#[test]
fn every_later_stage_quotes_an_earlier_one() {
    for request in REQUESTS {
        for stage in relay(request).iter().skip(1) {
            let brief = Brief::of(&stage.contract.request, stage.language);
            let own = brief.all();
            let upstream = stage.upstream.replace('‘', "“").replace('’', "”");
            let outer = |quoted: &str| quoted.replace('‘', "“").replace('’', "”");
            let taken = quotations(&stage.text)
                .filter(|quoted| !own.iter().any(|part| part == quoted) && upstream.contains(&outer(quoted)))
                .count();
            assert!(taken >= 1, "{}", stage.text);
        }
    }
}

/// Would fail if an answer took longer to write than its reader could notice; the bound is loose for slow machines.
#[test]
fn writing_is_quick() {
    let (mut quickest, mut words) = (u128::MAX, 0);
    // The best of five: a busy machine slows a try, not the writing.
    for _ in 0..5 {
        let started = tokio::time::Instant::now();
        words = relay(REQUESTS[0]).iter().map(|stage| stage.language.count_words(&stage.text)).sum::<usize>();
        quickest = quickest.min(started.elapsed().as_micros());
    }
    assert!(quickest < 100 * words as u128, "{quickest} µs for {words} words");
}
