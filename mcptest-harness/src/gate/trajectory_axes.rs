//! The `trajectory_axes` gate: ordering and data flow between tools, whatever else was called.

use mcptest_suite::gates::TrajectoryAxes;

use super::{Input, PerRun, Scored, Threshold};
use crate::eval::{Axes, AxesReport, Dependency, Order, score_trajectory_axes};
use crate::render::Evidence;
use crate::trace::Run;

impl PerRun for TrajectoryAxes {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 2] = [
            Threshold::at_least("trajectory.dependency_satisfaction", 100.0),
            Threshold::at_least("trajectory.order_satisfaction", 100.0),
        ];
        &DEFAULT
    }

    fn score(&self, _input: &Input<'_>, run: &Run) -> Scored {
        Scored::of(report(self, run).metrics())
    }

    fn explain(&self, _input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        let report = report(self, run);
        let mut lines: Vec<String> = report
            .broken
            .iter()
            .map(|edge| format!("- {}", edge.reason))
            .collect();
        let calls = run.trace.tool_calls.iter().enumerate();
        let first = calls
            .map(|(index, call)| format!("{index} {}", call.name))
            .collect::<Vec<_>>();
        lines.push(format!(
            "calls: {}",
            crate::render::cut(&first.join(", "), 400)
        ));
        vec![Evidence::Text(lines.join("\n"))]
    }
}

fn report(gate: &TrajectoryAxes, run: &Run) -> AxesReport {
    let dependencies = gate.dependencies.iter().map(|edge| Dependency {
        producer: edge.producer.value.clone(),
        consumer: edge.consumer.value.clone(),
        arg: edge.arg.as_ref().map(|arg| arg.text.clone()),
    });
    let order = gate.order.iter().map(|pair| Order {
        first: pair.first.value.clone(),
        second: pair.second.value.clone(),
    });
    let axes = Axes {
        dependencies: dependencies.collect(),
        order: order.collect(),
    };
    score_trajectory_axes(&run.trace, &axes)
}
