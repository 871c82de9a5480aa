//! The fuzzer's program: with libFuzzer's `main` in the instrumented build of `cargo xtask fuzz`, with a small one of
//! its own otherwise: `fuzz list`, `fuzz seeds FOLDER` (a folder per target), `fuzz replay TARGET FILE…`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod driven {
    use std::sync::LazyLock;

    use thermidor_fuzz::{Target, targets};

    /// The target named by `--target=NAME`: libFuzzer skips words that begin so.
    static TARGET: LazyLock<Target> = LazyLock::new(|| {
        let name = std::env::args().find_map(|word| word.strip_prefix("--target=").map(str::to_owned));
        let name = name.expect("started by `cargo xtask fuzz` with --target=NAME");
        targets().into_iter().find(|target| target.name() == name).expect("a target of that name")
    });

    libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.run(input));
}

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    by_hand::main()
}

#[cfg(not(fuzzing))]
mod by_hand {
    use std::{error::Error, fs, io::Write as _, path::Path, process::ExitCode};

    use thermidor_fuzz::targets;

    const USAGE: &str = "usage: fuzz list | fuzz seeds FOLDER | fuzz replay TARGET FILE…";

    pub(super) fn main() -> ExitCode {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = match words.as_slice() {
            ["list"] => list(),
            ["seeds", folder] => seeds(Path::new(folder)),
            ["replay", target, files @ ..] => replay(target, files),
            _ => Err(USAGE.into()),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Nobody may be reading.
                let _ = writeln!(std::io::stderr(), "fuzz: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn list() -> Result<(), Box<dyn Error>> {
        let mut out = std::io::stdout().lock();
        targets().iter().try_for_each(|target| Ok(writeln!(out, "{}", target.name())?))
    }

    fn seeds(folder: &Path) -> Result<(), Box<dyn Error>> {
        for target in targets() {
            let folder = folder.join(target.name());
            fs::create_dir_all(&folder)?;
            for (number, seed) in target.seeds().into_iter().enumerate() {
                fs::write(folder.join(format!("{number:04}")), seed)?;
            }
        }
        Ok(())
    }

    fn replay(name: &str, files: &[&str]) -> Result<(), Box<dyn Error>> {
        let target = targets().into_iter().find(|target| target.name() == name);
        let target = target.ok_or_else(|| format!("there is no target {name:?}; `fuzz list` names them"))?;
        files.iter().try_for_each(|file| {
            target.run(&fs::read(file)?);
            Ok(())
        })
    }
}
