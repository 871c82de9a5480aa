//! The command line. Its texts are the command's documentation: `docs/cli.md` is made from them.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use thermidor_types::{Currency, Money};

/// A team of agents works on one sentence, in the open, and the work survives a crash.
#[derive(Debug, Parser)]
#[command(name = "thermidor", version, max_term_width = 100, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, propagate_version = false)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 usage, 3 configuration, 4 credentials or provider, 5 a limit, \
                        6 a question waits for an answer, 130 stopped.\n\
                        The answer goes to standard output, everything else to standard error."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const SETTINGS: &str = "\
In this order: flags, environment, project's .thermidor/config.toml, user's config.toml, defaults.

In config.toml:
    model = \"PROVIDER/MODEL\"      for agents whose team file names none
    team = \"NAME\"                 when no -t is given
    [providers.NAME]              an OpenAI-compatible server, or other values for one that is known;
                                  in the user's file only
    base_url = \"http://host/v1\"   also of Azure: https://RESOURCE.openai.azure.com
    format = \"openai_chat\"        or openai_responses, anthropic_messages, google_generate, ollama_chat
    path = \"/x/{model}\"           in place of the format's path
    key_header = \"x-api-key\"      where the key is no bearer token
    quirks = [\"inline_media\"]     how it differs from its format; see docs/providers.md
    key_env = \"VARIABLE\"          the environment variable that holds its key, where it needs one
    default_model = \"MODEL\"       taken when only the provider is named
    context_window = 32768        assumed of its models, in tokens
    [[models]]                    what is known of a model; in the user's file only
    id = \"PROVIDER/MODEL\"
    context_window = 32768        in tokens; required
    max_output = 8192             in tokens
    abilities = { tools = true }  also vision, audio, video, files, reasoning, structured_output
    price = { currency = \"USD\", input = 2500000, output = 10000000 }
                                  in millionths per million tokens: 2500000 is 2.50

In the environment:
    THERMIDOR_MODEL, THERMIDOR_TEAM    as model and team above
    THERMIDOR_HOME                     one folder for settings, teams, skills, runs, not XDG's
    THERMIDOR_LOG                      what to log on standard error, such as debug
    OPENAI_API_KEY and the like        keys; `thermidor models ls` names them all
    OPENAI_BASE_URL                    another address for openai
    NO_COLOR, CLICOLOR_FORCE           no colours, colours everywhere";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let a team work on one request
    Run(Run),
    /// Look at runs, and go on with them
    #[command(subcommand, arg_required_else_help = true)]
    Runs(Runs),
    /// See and check teams
    #[command(subcommand, arg_required_else_help = true)]
    Teams(Teams),
    /// See and test models
    #[command(subcommand, arg_required_else_help = true)]
    Models(Models),
    /// Check that everything this command needs is in order
    Doctor,
    /// See where settings come from
    #[command(subcommand, arg_required_else_help = true, after_help = SETTINGS)]
    Config(Config),
    /// Print a script that completes this command in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the flag is called --dry-run")]
pub(crate) struct Run {
    /// The request, in words. What is piped in is appended to it; `-` takes standard input alone
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// The team: a name from `teams ls`, or the path of a team file
    #[arg(short, long, value_name = "NAME|FILE")]
    pub(crate) team: Option<String>,
    /// The model for everybody, or with `AGENT=` for one agent; a provider alone means its usual model
    #[arg(short, long = "model", value_name = "[AGENT=]PROVIDER/MODEL")]
    pub(crate) models: Vec<String>,
    /// A value for one of the team's params
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// A text file whose content becomes part of the request
    #[arg(short, long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Show what would run (team, models, limits); call nothing, write nothing
    #[arg(long, conflicts_with_all = ["json", "record"])]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) tape: Tape,
    #[command(flatten)]
    pub(crate) show: Show,
}

/// Where exchanges with providers are written, or read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Tape {
    /// Write every exchange with a model's provider to this file, without keys, for `--replay`
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Answer every request from a file that `--record` wrote: no network, no key
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
}

/// What a run may consume.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Limits {
    /// End the run after this many turns of members
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,
    /// End the run after this many tokens, in and out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// End the run after it cost so much: 0.50 (US dollars), 3CNY; needs models whose price is known
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    pub(crate) max_cost: Option<Money>,
    /// End the run after this time: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
}

/// How a run is shown, and where its result goes.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Also write the result as files into this folder, which must be new or empty
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Print every event as one line of JSON, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but the answer and errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show every turn's text in full, and the tool calls
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first
    Ls {
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Print one line of JSON for each run
        #[arg(long)]
        json: bool,
    },
    /// Draw a run's timeline: who worked when, for how long, on how many tokens
    Show {
        /// The run: `last`, its id, or at least four characters that its id begins or ends with
        id: String,
        /// Show what the member saw in this turn, block by block, and what was left out
        #[arg(long, value_name = "TURN", conflicts_with = "json")]
        context: Option<u32>,
        /// Print every event as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Follow a run to its end, also one that another process drives
    Tail {
        /// The run, as for `runs show`
        id: String,
        /// Print every event as one line of JSON
        #[arg(long)]
        json: bool,
        /// Show every turn's text in full, and the tool calls
        #[arg(short, long)]
        verbose: bool,
    },
    /// Go on with a run that was stopped, cut off or ended at a limit; finished turns are not done again. One that is
    /// done already gives its answer once more
    Resume {
        /// The run, as for `runs show`
        id: String,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        tape: Tape,
        #[command(flatten)]
        show: Show,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Teams {
    /// List the teams, with where each comes from
    Ls,
    /// Draw a team: its stages, members, models and limits
    Show {
        /// The team: a name, or the path of a team file
        team: String,
    },
    /// Check team files and name everything that is wrong with them, line by line
    Check {
        /// Names or paths; all teams when there is none
        teams: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List providers, whether they are ready, and the models known with window and price
    Ls {
        /// Ask the providers that are ready for their models first, or only those named, and remember the answers
        #[arg(long, value_name = "PROVIDER", num_args = 0..)]
        refresh: Option<Vec<String>>,
    },
    /// Make one tiny call and show how long it took
    Test {
        /// The model: PROVIDER/MODEL or a provider; without it, the one a run would take
        model: Option<String>,
        #[command(flatten)]
        tape: Tape,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the files and folders this command uses
    Path,
    /// Print the settings in force
    Show {
        /// Say where each one comes from
        #[arg(long)]
        origin: bool,
    },
}

/// Reads `0.50`, `0.50USD`, `3 CNY`.
fn money(text: &str) -> Result<Money, String> {
    let wrong = || format!("{text:?} is no amount: write for instance 0.50, 0.50USD or 3CNY");
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, code) = text.split_at(end);
    let currency =
        if code.is_empty() { Currency::USD } else { code.to_uppercase().parse().map_err(|_| wrong())? };
    let money = Money::parse_units(amount.trim(), currency).map_err(|_| wrong())?;
    if money.micros() > 0 { Ok(money) } else { Err(wrong()) }
}

/// Reads `90s`, `10m`, `1h30m`, `500ms`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: write for instance 90s, 10m or 1h30m");
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(unit).map(Duration::from_millis);
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = &rest[letters..];
    }
    if total.is_zero() { Err(wrong()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Would fail if two flags of one command had one name, or a help text were missing.
    #[test]
    fn the_definition_is_sound_and_documented() {
        fn documented(command: &clap::Command) {
            for argument in command.get_arguments() {
                let (name, of) = (argument.get_id(), command.get_name());
                assert!(argument.get_help().is_some(), "{name} of {of} has no help");
                assert!(!argument.is_hide_set(), "{name} of {of} is hidden");
            }
            for inner in command.get_subcommands() {
                assert!(inner.get_about().is_some(), "{} has no help", inner.get_name());
                documented(inner);
            }
        }
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        documented(&command);
    }

    #[test]
    fn amounts_have_a_currency() {
        let check = |text: &str, shown: &str| assert_eq!(money(text).expect(text).to_string(), shown);
        check("0.50", "0.50 USD");
        check("3CNY", "3.00 CNY");
        check("0.000001 eur", "0.000001 EUR");
        for bad in ["", "0", "-1", "1e3", "USD", "1 dollar", "0.0000001"] {
            let error = money(bad).expect_err(bad);
            assert!(error.contains("0.50USD"), "{error}");
        }
    }

    #[test]
    fn times_have_units() {
        let check =
            |text: &str, millis: u64| assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        check("90s", 90_000);
        check("10m", 600_000);
        check("1h30m", 5_400_000);
        check("500ms", 500);
        for bad in ["", "5", "s", "0s", "1d", "-1s", "1.5m", "99999999999999999999h", "18446744073709551615h"]
        {
            let error = duration(bad).expect_err(bad);
            assert!(error.contains("10m"), "{error}");
        }
    }
}
