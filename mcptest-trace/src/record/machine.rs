//! Which machine records, so that times are compared with times of the same machine alone.

use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs, thread};

use super::fingerprint;

/// What tells this machine from others: a digest of its host name, its architecture and how many processors this
/// process may use, as 16 hex digits. The host name is not in it in clear. `None` where the machine does not say
/// its name: then nobody can tell it from others.
///
/// ```
/// use mcptest_trace::record::recorded_on;
///
/// assert_eq!(recorded_on(), recorded_on());
/// assert!(recorded_on().is_none_or(|digest| digest.len() == 16));
/// ```
#[must_use]
pub fn recorded_on() -> Option<String> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let processors = thread::available_parallelism().ok()?.get();
        Some(digest(&host_name()?, env::consts::ARCH, processors))
    });
    machine.clone()
}

fn digest(host: &str, architecture: &str, processors: usize) -> String {
    fingerprint(&format!("{host}\n{architecture}\n{processors}"))
}

/// The name of the machine: of Linux, of Windows, of other systems.
fn host_name() -> Option<String> {
    let of_linux = || fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let of_windows = || env::var("COMPUTERNAME").ok();
    let of_unix = || {
        let mut command = Command::new("uname");
        let output = command.arg("-n").stderr(Stdio::null()).output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let name = of_linux().or_else(of_windows).or_else(of_unix)?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_its_name_its_architecture_and_its_processors() {
        let all = [
            digest("a", "x86_64", 2),
            digest("b", "x86_64", 2),
            digest("a", "aarch64", 2),
            digest("a", "x86_64", 8),
        ];
        assert!(all.iter().all(|digest| digest.len() == 16), "{all:?}");
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(digest("a", "x86_64", 2), all[0]);
    }
}
