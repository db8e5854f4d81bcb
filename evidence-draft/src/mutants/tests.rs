//! Mutants of small runs.

use super::*;
