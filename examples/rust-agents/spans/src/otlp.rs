//! Spans as an exporter sends them: OTLP in JSON. Identifiers and times are counted, so that what is made again is the same
//! but for what a library changed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanId, TraceId, TracerProvider as _};
use opentelemetry_proto::tonic::trace::v1::TracesData;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{IdGenerator, SdkTracerProvider, SpanData, SpanExporter};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::Error;

/// When the first span begins: 2026, in milliseconds since 1970.
const BEGIN_MS: u64 = 1_767_225_600_000;

/// Where the spans of a program are kept.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(batch);
        Ok(())
    }
}

/// Identifiers that are counted.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Counted {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl IdGenerator for Counted {
    fn new_trace_id(&self) -> TraceId {
        TraceId::from(u128::from(self.next()) << 64 | 1)
    }

    fn new_span_id(&self) -> SpanId {
        SpanId::from(self.next())
    }
}

/// The spans of the agents' libraries that a program makes, as OTLP in JSON.
pub async fn exported(
    program: impl Future<Output = Result<String, Error>>,
) -> Result<String, Error> {
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(kept.clone())
        .with_id_generator(Counted::default())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("desk"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(true);
    // What HTTP clients tell is no part of it.
    let libraries = [
        "rig",
        "rig_agent",
        "rig_core",
        "genai",
        "adk_agent",
        "adk_runner",
        "adk_model",
        "adk_telemetry",
    ];
    let wanted = libraries.map(|library| (library, LevelFilter::DEBUG));
    let subscriber = tracing_subscriber::registry()
        .with(layer)
        .with(Targets::new().with_targets(wanted));
    tracing::subscriber::set_global_default(subscriber)?;
    program.await?;
    provider.shutdown()?;
    let mut spans = std::mem::take(&mut *kept.0.lock().unwrap_or_else(PoisonError::into_inner));
    settle(&mut spans);
    let resource = Resource::builder_empty().with_service_name("desk").build();
    let resource_spans = group_spans_by_resource_and_scope(spans, &(&resource).into());
    let mut text = serde_json::to_string_pretty(&TracesData { resource_spans })?;
    text.push('\n');
    Ok(text)
}

/// Puts spans into the order of their beginnings, and each moment a millisecond after the one before; leaves out what else
/// differs from run to run.
fn settle(spans: &mut [SpanData]) {
    let mut moments: Vec<SystemTime> = Vec::new();
    for span in spans.iter() {
        moments.extend([span.start_time, span.end_time]);
        moments.extend(span.events.iter().map(|event| event.timestamp));
    }
    moments.sort();
    moments.dedup();
    let counted = |moment: SystemTime| {
        let count = moments.partition_point(|known| *known < moment);
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        SystemTime::UNIX_EPOCH + Duration::from_millis(BEGIN_MS + count)
    };
    for span in spans.iter_mut() {
        // A free port, and adk-rust's own identifiers, which hold the time.
        span.attributes.retain(|attribute| {
            let key = attribute.key.as_str();
            key != "server.port"
                && !key.ends_with("event_id")
                && !key.ends_with("invocation_id")
                && key != "invocation.id"
        });
        span.start_time = counted(span.start_time);
        span.end_time = counted(span.end_time);
        for event in &mut span.events.events {
            event.timestamp = counted(event.timestamp);
        }
    }
    spans.sort_by_key(|span| span.start_time);
}
