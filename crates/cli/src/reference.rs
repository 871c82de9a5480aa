//! The reference of the command, made from its definition.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

/// `docs/cli.md`: every command with its arguments, from the same texts that `--help` prints.
fn reference() -> String {
    let mut command = crate::args::Cli::command();
    command.build();
    let mut text = String::from(
        "# The command line\n\nMade from the command's definition; `thermidor --help` says the same.\n",
    );
    section(&command, "thermidor", 2, &mut text);
    text
}

fn section(command: &Command, path: &str, level: usize, text: &mut String) {
    let inner: Vec<_> = command.get_subcommands().collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "\n{} `{path}`\n\n{about}.", "#".repeat(level));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let _ = writeln!(text, "\n```\n{usage}\n```");
    let shown =
        command.get_arguments().filter(|argument| !["help", "version"].contains(&argument.get_id().as_str()));
    let rows: Vec<String> = shown.map(row).collect();
    if !rows.is_empty() {
        let _ = writeln!(text, "\n| argument | meaning |\n| --- | --- |\n{}", rows.join("\n"));
    }
    if let Some(after) = command.get_after_help() {
        // What is laid out in columns stays so.
        let after = after.to_string();
        let fence = if after.contains("\n    ") { "```\n" } else { "" };
        let _ = writeln!(
            text,
            "\n{fence}{after}{}{}",
            if fence.is_empty() { "" } else { "\n" },
            fence.trim_end()
        );
    }
    for command in inner {
        section(command, &format!("{path} {}", command.get_name()), level + 1, text);
    }
}

fn row(argument: &clap::Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let value = argument.get_value_names().filter(|_| takes_value);
    let value = value.map(|names| names.join(" ")).unwrap_or_default();
    let name = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {value}"),
        (None, Some(long)) => format!("--{long} {value}"),
        (Some(short), None) => format!("-{short} {value}"),
        (None, None) => value,
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = if default.is_empty() || !takes_value {
        String::new()
    } else {
        format!(" (default {})", default.join(" "))
    };
    format!("| `{}` | {help}{default} |", name.trim().replace('|', "\\|"))
}

#[test]
fn generated_cli_reference() {
    expect_test::expect_file!["../../../docs/cli.md"].assert_eq(&reference());
}
