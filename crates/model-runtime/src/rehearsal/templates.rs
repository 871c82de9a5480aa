//! The sentences of the rehearsal model. `{r}` and `{r2}` are phrases of the request, `{h}` is the heading,
//! `{m}` a source with its phrases `{u}`, `{u2}` and a sentence `{s}` of it, `{d}` a deliverable, `{q}` a
//! criterion of quality. A template is used only when everything it names is there.

use super::language::Language;

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// Two phrases of the request: opens every answer.
    Opening,
    Request,
    Heading,
    Source,
    Quotation,
    Skill,
    /// A few words, for where little room is left.
    Brief,
}

pub(super) fn templates(topic: Topic, language: Language) -> &'static [&'static str] {
    let (english, chinese) = match topic {
        Topic::Opening => (&OPENING_EN[..], &OPENING_ZH[..]),
        Topic::Request => (&REQUEST_EN[..], &REQUEST_ZH[..]),
        Topic::Heading => (&HEADING_EN[..], &HEADING_ZH[..]),
        Topic::Source => (&SOURCE_EN[..], &SOURCE_ZH[..]),
        Topic::Quotation => (&QUOTATION_EN[..], &QUOTATION_ZH[..]),
        Topic::Skill => (&SKILL_EN[..], &SKILL_ZH[..]),
        Topic::Brief => (&BRIEF_EN[..], &BRIEF_ZH[..]),
    };
    language.pick(english, chinese)
}

/// The line that says what this is, from the longest form to the shortest.
pub(super) fn notices(language: Language) -> [&'static str; 3] {
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

const OPENING_EN: [&str; 4] = [
    "The request speaks of “{r}” and of “{r2}”, and this answer takes both at their word.",
    "Two things carry the request: “{r}” and “{r2}”.",
    "At the centre stand “{r}” and, close to it, “{r2}”.",
    "What was asked for is “{r}”; what makes it useful is “{r2}”.",
];
const REQUEST_EN: [&str; 12] = [
    "Taken at its word, “{r}” is the part that a first user would miss first.",
    "A first version is good enough when it does “{r}” well and nothing else badly.",
    "Whoever reads this should be able to say in one breath how “{r}” is served.",
    "The riskiest assumption concerns “{r}”, so it is tried before the rest is built.",
    "If time runs short, “{r2}” may wait, but “{r}” may not.",
    "Three questions stay open about “{r}”: for whom, how often, and at what cost.",
    "Success for “{r}” can be watched directly: people come back and use it again.",
    "Nothing in the request limits “{r}”, so the narrowest useful reading is taken.",
    "“{r}” and “{r2}” belong together: one sets the goal, the other gives the measure.",
    "Between “{r}” and “{r2}” the request draws no order; here the former comes first.",
    "For “{r}”, one small trial with real people is worth more than a long list of wishes.",
    "Anything that does not bring “{r}” closer is left for later.",
];
const HEADING_EN: [&str; 9] = [
    "For “{h}” the deciding point is “{r}”.",
    "Read against “{h}”, “{r}” calls for one plain choice rather than several options.",
    "“{h}” stays short on purpose: “{r}” first, refinements once they have earned their place.",
    "What “{h}” has to settle is how far “{r}” reaches.",
    "The smallest thing that fits “{h}” is a version of “{r}” that can be shown this week.",
    "A sceptic would ask of “{h}” whether “{r}” is needed at all; the request says that it is.",
    "“{h}” is done when “{r}” can be checked by somebody who was not in the room.",
    "Under “{h}”, “{r}” and “{u}” are treated as one line of work.",
    "The link between “{h}” and what {m} said is “{u}”.",
];
const SOURCE_EN: [&str; 10] = [
    "{m} put weight on “{u}”, and that is taken over here.",
    "From {m} comes “{u}”, which narrows the choices.",
    "Since {m} settled “{u}”, it is not argued again.",
    "{m} named “{u}” and “{u2}”; the second is planned as a consequence of the first.",
    "Where {m} says “{u}”, this part answers with a concrete step.",
    "What {m} gave on “{u}” is the input; what follows is the consequence.",
    "Without “{u}” from {m}, this part would have to guess.",
    "One thing to watch from {m} is “{u}”: it touches “{r}” directly.",
    "If “{u}” turns out otherwise than {m} expects, “{r}” is what has to be looked at again.",
    "“{u2}” is kept within the bounds that {m} drew with “{u}”.",
];
const QUOTATION_EN: [&str; 4] = [
    "In the words of {m}: “{s}”.",
    "{m} wrote “{s}”, and nothing here contradicts it.",
    "The starting point is a sentence from {m}, “{s}”.",
    "Worth repeating from {m}: “{s}”.",
];
const SKILL_EN: [&str; 7] = [
    "The deliverable to hold this against is “{d}”.",
    "“{d}” is what has to exist at the end, in a form that others can open.",
    "This part feeds into “{d}” and is cut to that size.",
    "Quality is measured by one rule here: “{q}”.",
    "“{q}” is the test that this part passes before it is handed on.",
    "Held against “{q}”, anything vague is taken out rather than explained.",
    "For “{r}”, the rule “{q}” matters more than speed.",
];
const BRIEF_EN: [&str; 5] = [
    "Focus: “{r}”.",
    "First “{r}”, then “{r2}”.",
    "Given: “{u}”.",
    "Measure: “{r}”.",
    "Next: “{u}”, by {m}.",
];

const OPENING_ZH: [&str; 4] = [
    "需求里说到“{r}”，也说到“{r2}”，这里两者都按原意来理解。",
    "撑起这个需求的是两件事：“{r}”和“{r2}”。",
    "处在中心的是“{r}”，紧挨着它的是“{r2}”。",
    "要的是“{r}”，让它真正有用的是“{r2}”。",
];
const REQUEST_ZH: [&str; 12] = [
    "照字面理解，缺了“{r}”，第一批用户马上就会发现。",
    "第一版只要把“{r}”做扎实，别的不添乱，就算合格。",
    "读完这一段的人，应当能用一句话说清“{r}”如何落地。",
    "风险最大的假设在“{r}”上，所以先试它，再建其余部分。",
    "时间不够时，“{r2}”可以往后放，“{r}”不能。",
    "关于“{r}”还有三个问题没有答案：给谁，多久一次，代价多少。",
    "“{r}”是否成功可以直接看到：人们会不会回来再用一次。",
    "需求没有限定“{r}”的范围，因此取最窄而有用的那种理解。",
    "“{r}”与“{r2}”要放在一起看：一个定目标，一个给尺度。",
    "“{r}”和“{r2}”之间没有写明先后，这里先做前者。",
    "对“{r}”来说，请真实的人试一次，胜过列一长串愿望。",
    "凡是不能让“{r}”更近一步的，都留到以后。",
];
const HEADING_ZH: [&str; 9] = [
    "就“{h}”而言，起决定作用的是“{r}”。",
    "对照“{h}”来看，“{r}”需要一个明确的选择，而不是几种备选。",
    "“{h}”有意写短：先有“{r}”，细节等证明了价值再加。",
    "“{h}”要定下来的，是“{r}”到底做到哪一步。",
    "符合“{h}”的最小成果，是一个本周就能演示的“{r}”。",
    "怀疑的人会问，“{h}”里真的需要“{r}”吗；需求的回答是需要。",
    "当一个不在场的人也能检查“{r}”时，“{h}”才算完成。",
    "在“{h}”之下，“{r}”和“{u}”当作同一条线来推进。",
    "把“{h}”同{m}的意见连起来的，是“{u}”。",
];
const SOURCE_ZH: [&str; 10] = [
    "{m}看重“{u}”，这里照此接续。",
    "“{u}”来自{m}，它缩小了选择的范围。",
    "既然{m}已经定下“{u}”，这里不再争论。",
    "{m}提到“{u}”和“{u2}”，后者按前者的结果来安排。",
    "{m}谈到“{u}”的地方，这里用一个具体步骤来回应。",
    "{m}关于“{u}”的内容是输入，下面写的是由此得出的结果。",
    "如果没有{m}给出的“{u}”，这一部分只能靠猜。",
    "{m}的内容里要留意“{u}”，它直接影响“{r}”。",
    "假如“{u}”与{m}的预期不同，首先要重新看的是“{r}”。",
    "“{u2}”不超出{m}用“{u}”划出的范围。",
];
const QUOTATION_ZH: [&str; 4] = [
    "用{m}的话说：“{s}”。",
    "{m}写道“{s}”，这里没有与之相违的地方。",
    "出发点是{m}的一句话：“{s}”。",
    "{m}有一句值得重复：“{s}”。",
];
const SKILL_ZH: [&str; 7] = [
    "衡量这一部分的交付物是“{d}”。",
    "最后必须真实存在的是“{d}”，而且别人打得开。",
    "这一部分服务于“{d}”，篇幅也按它来定。",
    "这里只用一条标准衡量质量：“{q}”。",
    "交出去之前，这一部分要先通过“{q}”这一关。",
    "用“{q}”来对照，含糊的内容宁可删掉，也不多作解释。",
    "对“{r}”来说，“{q}”比速度更要紧。",
];
const BRIEF_ZH: [&str; 5] =
    ["重点是“{r}”。", "先“{r}”，后“{r2}”。", "依据是“{u}”。", "尺度是“{r}”。", "接着是{m}的“{u}”。"];
