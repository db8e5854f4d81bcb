//! The verdict on a claim of which no call succeeded.

use super::call::{Call, Ending};
use super::doers::Doers;
use super::judge::Judge;
use super::lexicon::Lexicon;
use super::marks::{Mark, Marks, of};
use super::report::{ClaimVerdict, Unclear};
use super::said::Said;
use super::sentence::Told;
use super::tools::Tool;

/// A claim of which no call succeeded.
pub(super) struct WithoutCall<'j, 't> {
    pub(super) judge: &'j Judge<'t>,
    pub(super) found: &'j Told<'j>,
    pub(super) doers: &'j Doers<'t>,
    /// The last call that failed.
    pub(super) vain: Option<usize>,
}

impl WithoutCall<'_, '_> {
    pub(super) fn verdict(&self) -> ClaimVerdict {
        if self.was_read() {
            return ClaimVerdict::Read;
        }
        let unclear = self.unclear();
        unclear.map_or(ClaimVerdict::Unsupported, ClaimVerdict::Unclear)
    }

    /// Why the recording cannot tell, if so.
    fn unclear(&self) -> Option<Unclear> {
        let Self {
            judge,
            found,
            doers,
            ..
        } = self;
        let failed = self.vain.is_some();
        if judge.writes.values().any(|tool| tool.said.delegates()) {
            return Some(Unclear::Delegated);
        }
        // *SO-4: cancelled on May 1* tells what its record says.
        let dated = !failed && self.is(Mark::Dated) && judge.calls.looked_up(&found.identifiers);
        // *Storm warnings have been issued*: who can change nothing tells of the world.
        let only_reads = judge.tools.complete && judge.tools.only_read() && !doers.listed;
        if dated || only_reads && !found.marks.meets(of![Ours Your]) {
            return Some(Unclear::Wording);
        }
        if judge.writes.is_empty() {
            return None;
        }
        if !failed && self.follows() {
            return Some(Unclear::Consequence);
        }
        // A shell that is told of it may have done it, though another tool is known for just that.
        let tells = |call: &Call<'_>| call.mentions(found.spoken);
        let of_object = |tool: &&str| judge.tools.get(tool).is_some_and(|tool| found.shares(tool));
        let known = doers.listed
            || judge
                .tools
                .all_writes()
                .any(|(_, tool)| self.is_exact(tool))
            || doers.own.iter().any(of_object);
        // A lock may be turned on to lock it, or to open it.
        let lexicon = Lexicon::get();
        let locks = lexicon.lists("locks", found.spoken);
        let turns = |tool: &&Tool<'_>| {
            let mut verbs = tool.said.verbs.iter();
            verbs.any(|verb| lexicon.lists("turns", verb))
        };
        let turned = judge.writes.values().any(turns);
        if locks && turned && doers.all.is_empty() {
            return Some(Unclear::VagueTool);
        }
        // *I've transferred your bag*, by a tool of bags, where the user alone is handed over
        let of_user = |said: &Said| said.hands_over() || said.delegates();
        let of_people = |tool: &&str| judge.tools.get(tool).is_some_and(|tool| of_user(tool.said));
        let people = !doers.listed && !doers.all.is_empty() && doers.all.iter().all(of_people);
        if people && !failed && judge.writes.values().any(|tool| found.shares(tool)) {
            return Some(Unclear::VagueTool);
        }
        // A state told in the present may be what the other change led to.
        let vague = if known {
            !doers.listed && self.silent(tells) || self.is(Mark::IsDone) && self.vague()
        } else {
            self.silent(|_| true) || !self.is(Mark::Creating) && self.vague()
        };
        let unknown = !known && doers.all.is_empty() && !judge.tools.complete;
        if vague {
            return Some(Unclear::VagueTool);
        }
        unknown.then_some(Unclear::ToolsUnknown)
    }

    fn is(&self, mark: Mark) -> bool {
        self.found.marks.has(mark)
    }

    /// Whether a look-up returned the state that is told, or a change where no tool is known to lead to it.
    fn was_read(&self) -> bool {
        let Self { judge, found, .. } = self;
        let mut tools = self
            .doers
            .all
            .iter()
            .filter_map(|tool| judge.tools.get(tool));
        let doable = tools.any(|tool| found.object.is_empty() || found.shares(tool));
        // What was looked up is nobody's own doing.
        let ours = self.is(Mark::Ours);
        let counts = |call: &Call<'_>, told: bool| match call.ending {
            _ if self.vain.is_some() => !call.succeeded() && !ours,
            Ending::Succeeded if judge.tools.writes(&call.recorded.name) => {
                !doable && (told || !ours)
            }
            _ => !ours,
        };
        judge.calls.was_read(found, counts)
    }

    /// Whether what is told may be what another change led to, or does not say what was done.
    fn follows(&self) -> bool {
        let Self {
            judge,
            found,
            doers,
            ..
        } = self;
        let lexicon = Lexicon::get();
        let did = |verb| {
            let mut tools = judge.tools.carrying(verb);
            tools.any(|tool| judge.writes.contains_key(tool))
        };
        // *You've been charged*, where a tool pays and none charges.
        let costs = found.object.is_empty() && lexicon.akin(found.spoken, "bill");
        let says = |tool: &&str| {
            judge
                .tools
                .get(tool)
                .is_some_and(|tool| tool.says(found.spoken))
        };
        let has_tool = |tool: &&str| !costs || says(tool);
        // *Your request has been submitted* does not say which.
        let head = found.object.last().and_then(|head| lexicon.word(head));
        let of_request = head.filter(|_| self.is(Mark::Light)).is_some_and(|head| {
            let light = |verb| lexicon.is(verb, Mark::Light);
            head.marks.has(Mark::Carrier) && head.noun_of.is_some_and(light)
        });
        let known_light = judge
            .tools
            .all_writes()
            .any(|(_, tool)| found.verbs.iter().any(|verb| tool.says(verb)) && found.shares(tool));
        let remade = ["delete", "cancel"].into_iter().any(did)
            && ["create", "book", "order"].into_iter().any(did);
        let by_itself = self.is(Mark::Consequence) && !self.is(Mark::Ours) && !doers.listed;
        self.is(Mark::Field)
            || of_request && !known_light
            || self.is(Mark::Money) && self.is(Mark::Lands)
            || self.is(Mark::Remade) && remade
            || by_itself && !doers.all.iter().any(has_tool)
    }

    /// Whether a tool with a general name succeeded: it may do any verb, unless the object names another.
    fn vague(&self) -> bool {
        let Self { judge, found, .. } = self;
        let meant = judge
            .tools
            .narrowed(&judge.vague, &found.object, &found.verbs);
        meant.iter().any(|tool| judge.writes.contains_key(tool))
    }

    /// Whether a tool does just this verb; but it may be another's of another object.
    fn is_exact(&self, tool: &Tool<'_>) -> bool {
        let found = self.found;
        let of_object = self.is(Mark::Creating) || found.object.is_empty() || found.shares(tool);
        let says = found.verbs.iter().any(|verb| tool.says(verb));
        says && (self.vain.is_some() || of_object || !self.vague())
    }

    /// Whether a call of a tool whose name tells nothing succeeded later, of those that count.
    fn silent(&self, counts: impl Fn(&Call<'_>) -> bool) -> bool {
        let judge = self.judge;
        let silent = judge.writes.iter();
        let silent = silent.filter(|(_, tool)| tool.said.is_silent());
        let mut calls = silent.flat_map(|(name, _)| judge.calls.of_tool(name));
        calls.any(|at| {
            let call = &judge.calls.all[*at];
            Some(*at) > self.vain && call.changed(true) && counts(call)
        })
    }
}
