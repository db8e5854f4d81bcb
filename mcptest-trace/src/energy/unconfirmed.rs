//! Growth that drift was to confirm and that no text could confirm.

use super::guard::GrowthRatioGuard;

/// Looks for growth that lasts for some steps, of which none has a drift.
#[derive(Debug, Default)]
pub(super) struct UnconfirmedGrowth {
    /// Where the first such growth that is over began.
    first: Option<usize>,
    /// Where the growth began that still lasts and has had no drift.
    open: Option<usize>,
    /// Whether growth lasts.
    lasts: bool,
}

impl UnconfirmedGrowth {
    /// Looks at the guard's last step.
    pub(super) fn observe(&mut self, guard: &GrowthRatioGuard) {
        let grown = guard.has_grown();
        if !grown {
            self.first = self.first.or(self.open.take());
        } else if guard.drift().is_some() {
            self.open = None;
        } else if !self.lasts {
            self.open = Some(guard.history().len());
        }
        self.lasts = grown;
    }

    /// The first step of the first such growth.
    pub(super) fn first(&self) -> Option<usize> {
        self.first.or(self.open)
    }
}
