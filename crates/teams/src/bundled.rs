/// Pairs of a path below `bundled/` and the text of the file there.
macro_rules! embed {
    ($folder:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../bundled/", $folder, "/", $path)))),+]
    };
}

static TEAMS: &[(&str, &str)] = embed!["teams": "software-company.toml", "software-company-parallel.toml"];

static SKILLS: &[(&str, &str)] = embed!["skills":
    "general-manager/SKILL.md",
    "general-manager/SKILL.zh.md",
    "project-manager/SKILL.md",
    "project-manager/SKILL.zh.md",
    "frontend-engineer/SKILL.md",
    "frontend-engineer/SKILL.zh.md",
    "algorithm-engineer/SKILL.md",
    "algorithm-engineer/SKILL.zh.md",
    "algorithm-engineer/references/evaluation-checklist.md",
    "algorithm-engineer/references/evaluation-checklist.zh.md",
];

static AVATARS: &[(&str, &str)] = embed!["avatars":
    "general-manager.svg",
    "project-manager.svg",
    "frontend-engineer.svg",
    "algorithm-engineer.svg",
];

/// The bundled team files: file name and text.
pub fn bundled_teams() -> &'static [(&'static str, &'static str)] {
    TEAMS
}

/// The files of the bundled skills: path below the skills folder (`general-manager/SKILL.md`) and text.
pub fn bundled_skills() -> &'static [(&'static str, &'static str)] {
    SKILLS
}

/// The bundled employees' pictures: the file name after `avatars/`, and the SVG.
pub fn bundled_avatars() -> &'static [(&'static str, &'static str)] {
    AVATARS
}
