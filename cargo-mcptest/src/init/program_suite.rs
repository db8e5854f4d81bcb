//! A first suite beside a program that is there, in whatever language.

use std::fs;
use std::path::{Path, PathBuf};

use mcptest::command::command_line;
use mcptest::judge;
use mcptest_suite::model::{Prompt, Suite};
use mcptest_suite::{Source, SuitePath, is_reserved, portable_path, segment};
use serde_json::Value;

use super::plan::list_suites;
use super::relative::relative;
use crate::failure::Failure;
use crate::package::FoundPackage;

/// What the agent is asked, where nobody says.
pub(super) const PROMPT: &str = "Hello! What can you do for me?";

/// An agent that a program is.
#[derive(Debug)]
pub(super) struct ProgramAgent<'a> {
    pub(super) command: &'a [String],
    pub(super) name: String,
    pub(super) prompt: &'a str,
}

/// The first suite of a program.
#[derive(Debug)]
pub(super) struct FirstSuite {
    /// Its file, from the package's folder.
    pub(super) file: PathBuf,
    pub(super) text: String,
}

impl<'a> ProgramAgent<'a> {
    /// An agent by its program, and by its name where one is given.
    pub(super) fn new(
        command: &'a [String],
        name: Option<&str>,
        prompt: Option<&'a str>,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let prompt = prompt.unwrap_or(PROMPT);
        if prompt.trim().is_empty() {
            return Err(Failure::new("`--prompt` is empty")
                .with_help("give what your users ask, e.g. `--prompt \"Where is order 7?\"`"));
        }
        let Some(name) = name else {
            let name = agent_name(command, folder);
            return Ok(Self {
                command,
                name,
                prompt,
            });
        };
        let free = segment(name).is_some_and(|segment| !is_reserved(&segment));
        if !free || name.chars().any(char::is_control) {
            return Err(Failure::new(format!("`--name {name}` cannot name an agent test")).with_help(
                "give a name of one line that has a letter and is not the name of a gate, e.g. `--name \"Refund agent\"`",
            ));
        }
        Ok(Self {
            command,
            name: name.to_owned(),
            prompt,
        })
    }

    /// Where its suite goes, below a folder of suites of the package.
    ///
    /// # Errors
    ///
    /// The place is taken, or a suite has an agent of this name.
    pub(super) fn suite_file(&self, package: &FoundPackage) -> Result<PathBuf, Failure> {
        let root = suites_root(package);
        let stem = segment(&self.name).unwrap_or_default();
        let file = root.join(stem + ".yml");
        let another = "give the new agent another name, e.g. `--name \"Refund agent\"`: its suite then has another name too";
        let there = list_suites(package);
        let own = case_path(&root, &file);
        let clash = there.iter().find(|suite| case_path(&root, suite) == own);
        if let Some(taken) =
            clash.or_else(|| Some(&file).filter(|file| exists(&package.folder.join(file))))
        {
            return Err(
                Failure::new(format!("`{}` is there already", portable_path(taken)))
                    .with_help(another),
            );
        }
        // Agents of one name would share their recordings.
        let opened = judge::Package::open(&package.folder, &package.name, &package.roots);
        for (suite, known) in opened.suites() {
            if known
                .agents
                .iter()
                .any(|agent| agent.name.value == self.name)
            {
                let problem = format!("the suite `{suite}` has an agent `{}` already", self.name);
                return Err(Failure::new(problem).with_help(another));
            }
        }
        Ok(file)
    }

    /// Its suite, read back and found to say what it should.
    ///
    /// # Errors
    ///
    /// Recordings of such an agent are there already, or no suite can say this.
    pub(super) fn suite(
        &self,
        package: &FoundPackage,
        file: PathBuf,
        model: &str,
    ) -> Result<FirstSuite, Failure> {
        let root = package.folder.join(file.parent().unwrap_or(Path::new("")));
        let up = relative(&normalize_path(&root), &normalize_path(&package.folder));
        let words: Vec<String> = self.command.iter().map(|word| quote(word)).collect();
        let text = format!(
            "# Written by `{init}`. `{record}` runs the agent with its real model, and keeps what it does.\n\
             agents:\n  \
             - name: {name}\n    \
             model: {model}\n    \
             # Write here what your users ask.\n    \
             prompt: {prompt}\n    \
             runs: 2\n    \
             # How the agent is started, and where: a path from the folder of this file.\n    \
             command: [{words}]\n    \
             cwd: {up}\n    \
             # Each recording is played to the agent's own code: it must still ask and do the same.\n    \
             playback: {{}}\n    \
             # Say beside it what every run must do, e.g. `calls: {{ max: 5 }}` or `narrative: {{}}`.\n",
            init = command_line("init"),
            record = command_line("record"),
            name = quote(&self.name),
            model = quote(model),
            prompt = quote(self.prompt),
            words = words.join(", "),
            up = quote(&portable_path(&up)),
        );
        let shown = portable_path(&file);
        let suite = mcptest::parse_suite(Source::new(&file, &shown, text.as_str()))
            .map_err(|error| Failure::new(format!("no suite can be written: {error}")))?;
        if !self.matches_suite(&suite, model) {
            return Err(Failure::new(
                "no suite can be written: one of its texts changes when YAML is written and read again",
            )
            .with_help("leave control characters out of the command, the name and the prompt"));
        }
        let agent = &suite.agents[0];
        for stem in agent.cassette_stems(&agent.models[0].value) {
            for end in ["", ".json", ".jsonl"] {
                let recorded = Path::new("cassettes").join(format!("{stem}{end}"));
                if exists(&root.join(&recorded)) {
                    let recorded = file.parent().unwrap_or(Path::new("")).join(recorded);
                    return Err(Failure::new(format!("`{}` is there already", portable_path(&recorded))).with_help(
                        "recordings of such an agent are there without its suite: move them away, or give the new agent another name with `--name`",
                    ));
                }
            }
        }
        Ok(FirstSuite { file, text })
    }

    fn matches_suite(&self, suite: &Suite, model: &str) -> bool {
        let [agent] = suite.agents.as_slice() else {
            return false;
        };
        let prompt = match &agent.prompt {
            Prompt::Single(text) => text.value == self.prompt,
            Prompt::Turns(_) => false,
        };
        let command = agent.command.as_ref();
        let is_model = |models: &[_]| matches!(models, [_]) && agent.models[0].value.id == model;
        agent.name.value == self.name
            && is_model(&agent.models)
            && prompt
            && command.is_some_and(|it| it.command == self.command)
    }
}

/// The first folder of suites.
fn suites_root(package: &FoundPackage) -> PathBuf {
    let root = package.roots.first();
    root.map_or_else(|| PathBuf::from("suites"), PathBuf::clone)
}

/// The suite's part of its case names; nothing where it has none.
fn case_path(root: &Path, file: &Path) -> Option<SuitePath> {
    SuitePath::from_path(file.strip_prefix(root).ok()?).ok()
}

/// A path without links and dots, also where its end is not there yet.
fn normalize_path(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(above), Some(name)) => normalize_path(above).join(name),
        (Err(_), _, _) => path.to_owned(),
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A text of YAML that means what it says, to YAML and to suites.
fn quote(text: &str) -> String {
    Value::from(text.replace("${", "$${")).to_string()
}

/// The name of an agent, from its program: a path to a program, a file that is given to a program, what python's
/// `-m` names, the last word of another launcher.
fn agent_name(command: &[String], folder: &Path) -> String {
    let (program, arguments) = command
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let is_path = program.contains(['/', '\\']);
    let words = || arguments.iter().map(String::as_str);
    let file = || words().find(|word| folder.join(word).is_file()).map(stem);
    let module = || {
        words()
            .skip_while(|word| *word != "-m")
            .nth(1)
            .map(str::to_owned)
    };
    let last = || {
        words()
            .rfind(|word| !word.starts_with('-') && !word.contains(['{', '/', '\\']))
            .map(stem)
    };
    let own = is_path.then(|| stem(program));
    let name = own.or_else(file).or_else(module).or_else(last);
    let name = name.unwrap_or_else(|| stem(program));
    let name: String = name
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    match segment(&name) {
        None => "agent".to_owned(),
        Some(segment) if is_reserved(&segment) => format!("{name} agent"),
        Some(_) => name.trim().to_owned(),
    }
}

/// The name of a file without its end, whichever system's path it is.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use e2e_support::folder::Folder;

    use super::*;

    #[test]
    fn an_agent_has_the_name_of_its_program() {
        let folder = Folder::new()
            .with_file("agent.py", "")
            .with_file("src/my agent.ts", "")
            .with_file("Prüfung 🚀.py", "")
            .with_file("🚀.py", "")
            .with_file("calls.py", "");
        for (line, name) in [
            (&["python3", "agent.py"][..], "agent"),
            (&["python3", "-u", "agent.py", "--fast"], "agent"),
            (&["uv", "run", "agent.py"], "agent"),
            (&["npx", "tsx", "src/my agent.ts"], "my agent"),
            (&["python3", "Prüfung 🚀.py"], "Prüfung 🚀"),
            (&["python3", "🚀.py"], "agent"),
            (&["python3", "calls.py"], "calls agent"),
            (&["python3", "-m", "shop.refunds"], "shop.refunds"),
            (&["npm", "run", "refunds"], "refunds"),
            (&["./refund-bot", "--fast"], "refund-bot"),
            (&[r"C:\My agents\Refund bot.exe", "agent.py"], "Refund bot"),
            (&["refund-bot", "--ask", "{{prompt}}"], "refund-bot"),
            (&[".hidden"], ".hidden"),
        ] {
            let words: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(agent_name(&words, folder.path()), name, "{line:?}");
        }
    }

    #[test]
    fn a_suite_says_what_it_was_made_of() {
        let package = FoundPackage::from_folder(
            PathBuf::from("/nowhere"),
            PathBuf::from("tests/agent suites"),
        );
        let command = [
            "python3",
            "my agent.py",
            "${HOME}",
            "a\"b\\c",
            "🚀",
            "{{prompt}}",
            "- x: #y",
        ];
        let command = command.map(str::to_owned);
        let beside = ProgramAgent::new(
            &command,
            None,
            Some("Say: \"${x}\"\n# no comment"),
            Path::new("/nowhere"),
        )
        .unwrap();
        let suite = beside
            .suite(&package, PathBuf::from("tests/agent suites/x.yml"), "gpt-5")
            .unwrap();
        assert!(suite.text.contains("cwd: \"../..\"\n"), "{}", suite.text);
    }
}
