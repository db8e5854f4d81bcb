//! The cases of a suite: one list for the runner and for the macro.

use crate::model::{Agent, GateKind, Suite, Unsupported};
use crate::{REGRESSION, UNSUPPORTED};

/// One test case of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// The name below the suite's, e.g. `refund_agent::stability`.
    pub name: String,
    /// What it judges.
    pub kind: CaseKind,
    /// Why it is listed but not run.
    pub ignored: Option<String>,
}

/// What a case judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseKind {
    /// The agent test itself: run count, staleness, caps and `expect:`.
    Agent(Subject),
    /// One gate over the runs.
    Gate(Subject, GateKind),
    /// An agent's runs, against those of the baseline.
    Regression(Subject),
    /// All agents of the suite together, against the baseline.
    SuiteRegression,
    /// Nothing: it stands for something that is not run here.
    Unsupported,
}

impl CaseKind {
    /// The agent and model that the case is about, if it is about one.
    #[must_use]
    pub const fn subject(self) -> Option<Subject> {
        match self {
            Self::Agent(subject) | Self::Gate(subject, _) | Self::Regression(subject) => {
                Some(subject)
            }
            Self::SuiteRegression | Self::Unsupported => None,
        }
    }
}

/// The agent and model a case is about, as indices into the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Index into [`Suite::agents`].
    pub agent: usize,
    /// Index into [`Agent::models`].
    pub model: usize,
}

impl Suite {
    /// Every case of the suite, sorted by name.
    ///
    /// ```
    /// use mcptest_suite::{Source, model::Suite};
    ///
    /// let text = "
    /// agents:
    ///   - name: Refund agent
    ///     models: [gpt-5, claude-sonnet-4-5]
    ///     prompt: Please refund order 7.
    ///     runs: 3
    ///     stability: {}
    /// ";
    /// let suite = Suite::parse(Source::new("a.yml", "a.yml", text))?;
    /// let names: Vec<_> = suite.cases().into_iter().map(|case| case.name).collect();
    /// assert_eq!(names, [
    ///     "refund_agent::claude_sonnet_4_5",
    ///     "refund_agent::claude_sonnet_4_5::stability",
    ///     "refund_agent::gpt_5",
    ///     "refund_agent::gpt_5::stability",
    /// ]);
    /// # Ok::<(), mcptest_suite::LoadError>(())
    /// ```
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = self
            .unsupported
            .iter()
            .map(|key| unsupported("", key))
            .collect();
        if self.regression.is_some() {
            cases.push(Case {
                name: REGRESSION.to_owned(),
                kind: CaseKind::SuiteRegression,
                ignored: None,
            });
        }
        let only = self.agents.iter().any(|agent| agent.only.is_some());
        for (index, agent) in self.agents.iter().enumerate() {
            let first = cases.len();
            for model in 0..agent.models.len() {
                let subject = Subject {
                    agent: index,
                    model,
                };
                let name = agent.case_name(model);
                for gate in &agent.gates {
                    let counted = gate.counted.then(|| "judged by `reliability`".to_owned());
                    cases.push(Case {
                        name: format!("{name}::{}", gate.kind.name()),
                        kind: CaseKind::Gate(subject, gate.kind),
                        ignored: counted,
                    });
                }
                if self.regression.is_some() {
                    let skip = agent.regression.as_ref().and_then(|own| own.skip.as_ref());
                    cases.push(Case {
                        name: format!("{name}::{REGRESSION}"),
                        kind: CaseKind::Regression(subject),
                        ignored: skip.map(|reason| format!("skipped: {}", reason.value)),
                    });
                }
                cases.push(Case {
                    name,
                    kind: CaseKind::Agent(subject),
                    ignored: None,
                });
            }
            cases.extend(
                agent
                    .unsupported
                    .iter()
                    .map(|key| unsupported(&format!("{}::", agent.segment), key)),
            );
            cases.extend(agent.checks.iter().map(|check| Case {
                name: format!("{}::{UNSUPPORTED}::{}", agent.segment, check.name.value),
                kind: CaseKind::Unsupported,
                ignored: Some(format!(
                    "`{}` is a check in Rust; it runs only if a check of this name is registered",
                    check.name.value
                )),
            }));
            let reason = match &agent.skip {
                Some(reason) => Some(format!("skipped: {}", reason.value)),
                None if only && agent.only.is_none() => {
                    Some("another agent of this suite is marked `only: true`".to_owned())
                }
                None => None,
            };
            for case in &mut cases[first..] {
                case.ignored = reason.clone().or(case.ignored.take());
            }
        }
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        cases
    }
}

impl Agent {
    /// Whether something is asked of the agent that can be judged without a model: in `expect:`, by a gate, a
    /// cap or an injected fault.
    #[must_use]
    pub fn has_expectations(&self) -> bool {
        let caps = &self.caps;
        let caps = [&caps.max_turns, &caps.token_budget, &caps.max_tool_calls];
        !self.gates.is_empty()
            || !self.inject.is_empty()
            || caps.iter().any(|cap| cap.is_some())
            || self
                .expect
                .iter()
                .any(|assertion| !assertion.matcher.needs_only_model())
    }

    /// Why nothing that the suite asks of the agent is judged here, where all of it is recognised
    /// but not run.
    #[must_use]
    pub fn unsupported_reason(&self) -> Option<String> {
        if self.has_expectations() || !self.checks.is_empty() || self.unsupported.is_empty() {
            return None;
        }
        let keys = self.unsupported.iter().map(|key| key.key.as_str());
        Some(format!(
            "this harness runs nothing that the agent asks for: {}",
            crate::quoted_list(keys)
        ))
    }

    /// Why the agent's own case judges nothing, where all that is asked of it are checks in Rust.
    #[must_use]
    pub fn checks_only_reason(&self) -> Option<String> {
        let asks = self.has_expectations() || !self.unsupported.is_empty();
        let check = self.checks.first().filter(|_| !asks)?;
        Some(format!(
            "this agent asks only for the check `{}`, which is its own case if it is registered",
            check.name.value
        ))
    }

    /// The name of the agent's own case for a model, below the suite's name.
    #[must_use]
    pub fn case_name(&self, model: usize) -> String {
        match self.models.as_slice() {
            [] | [_] => self.segment.clone(),
            // Loading refuses several models of which one has no segment.
            several => {
                let model = several.get(model).and_then(|model| model.value.segment());
                format!("{}::{}", self.segment, model.unwrap_or_default())
            }
        }
    }
}

fn unsupported(prefix: &str, key: &Unsupported) -> Case {
    Case {
        name: format!("{prefix}{UNSUPPORTED}::{}", key.segment),
        kind: CaseKind::Unsupported,
        ignored: Some(key.reason.clone()),
    }
}
