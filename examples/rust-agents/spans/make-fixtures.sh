#!/usr/bin/env bash
# Makes the spans again that the tests of `cargo mcptest import` read: real runs of real builds. The file names hold the
# versions; after an update of a library the old files stay, and the new ones go beside them.
set -euo pipefail
cd "$(dirname "$0")"
into=../../../cargo-mcptest/src/import/tests/spans
export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true
spans() { cargo run --locked --quiet --package spans --features fixtures --bin fixtures -- "$@"; }
version() { sed -n "/^name = \"$1\"$/{n;s/version = \"\(.*\)\"/\1/p}" ../Cargo.lock; }
spans rig >"$into/rig-$(version rig).json"
spans rig "Let the clerk find order 7." >"$into/rig-$(version rig)-nested.json"
spans genai >"$into/genai-$(version genai).json"
spans adk-rust >"$into/adk-rust-$(version adk-agent).json"
