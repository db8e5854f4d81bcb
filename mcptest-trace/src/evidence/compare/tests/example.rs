//! The worked example: as text, as Markdown and as numbers.

use super::*;

const HEADLINE: &str = "1 of 4 agents got worse (`a_refund`: 6 of 6 → 1 of 6), 1 costs 45% more tokens (`b_search`), \
     1 calls other tools (`d_cancel`), 1 got better (`c_book`: 0 of 6 → 6 of 6).";

#[test]
fn the_four_agents_as_text() {
    let comparison = compare(&four(), &CompareOptions::default());
    assert_eq!(comparison.headline(), HEADLINE);
    for shown in [ShownAgents::WithFinding, ShownAgents::All] {
        assert_eq!(
            comparison.body(shown),
            "\
for each agent, regressed means p ≤ 0.00625 and a loss of 10 points or more; costlier means p ≤
  0.00625 and 20% or more tokens than before

agent     passed       tokens              behaviour      verdict
a_refund  6/6 → 1/6    ×1.00 [0.98, 1.03]  same           regressed p 0.0032
b_search  5/6 → 5/6    ×1.45 [1.43, 1.46]  same           costlier p 0.0011
c_book    0/6 → 6/6    ×1.00 [0.98, 1.02]  same           improved p 0.0002
d_cancel  6/6 → 4/6    ×1.00 [0.98, 1.03]  other p 0.002  no evidence (87 points would show)
all 4     −4.2 points  ×1.10 [0.82, 1.47]  other p 0.002  no evidence p 0.50
`d_cancel`: new `close` in 6 of 6, lost `cancel`
all 4: a mean drop of 37.9 points would have been noticed
1 got worse, 1 costs 45% more tokens, 1 calls other tools, 1 got better. Exit status 1.
"
        );
    }
}

#[test]
fn the_four_agents_as_markdown() {
    let text = compare(&four(), &CompareOptions::default()).markdown();
    let head = format!("**{HEADLINE}**\n");
    assert_eq!(
        text,
        head + "
| agent | passed | tokens | behaviour | verdict |
|---|---|---|---|---|
| ❌ `a_refund` | 6/6 → 1/6 | ×1.00 \\[0.98, 1.03\\] | same | regressed p 0.0032 |
| ❌ `b_search` | 5/6 → 5/6 | ×1.45 \\[1.43, 1.46\\] | same | costlier p 0.0011 |
| 🔎 `c_book` | 0/6 → 6/6 | ×1.00 \\[0.98, 1.02\\] | same | improved p 0.0002 |
| 🔎 `d_cancel` | 6/6 → 4/6 | ×1.00 \\[0.98, 1.03\\] | other p 0.002 | no evidence (87 points would show) |
| all 4 | −4.2 points | ×1.10 \\[0.82, 1.47\\] | other p 0.002 | no evidence p 0.50 |

`d_cancel`: new `close` in 6 of 6, lost `cancel`

for each agent, regressed means p ≤ 0.00625 and a loss of 10 points or more; costlier means p ≤ 0.00625 and 20% or more tokens than before

all 4: a mean drop of 37.9 points would have been noticed

1 got worse, 1 costs 45% more tokens, 1 calls other tools, 1 got better. Exit status 1.
"
    );
}

#[test]
fn names_and_tools_of_others_are_no_markup() {
    let now = side(6, 10, "@team #7 ![x](y) `z` |\n<b>");
    let hostile = vec![
        compared_agent("a|b`<i>", side(6, 10, "x|y"), now),
        AgentSamples::new("<script>@all", Sides::New),
    ];
    let text = compare(&hostile, &CompareOptions::default()).markdown();
    let row = text.lines().find(|row| row.contains("a\\|bʼ<i>"));
    let row = row.unwrap_or_else(|| panic!("{text}"));
    assert!(row.starts_with("| 🔎 `a\\|bʼ<i>` |"), "{row}");
    let unescaped = row.replace("\\|", "");
    assert_eq!(unescaped.matches('|').count(), 6, "{row}");
    assert!(
        text.contains("new `@team #7 ![x](y) ʼzʼ |\\n<b>` in 6 of 6"),
        "{text}"
    );
    assert!(
        text.contains("- new, not compared: `<script>@all`\n"),
        "{text}"
    );
}

#[test]
fn the_four_agents_as_numbers() {
    let comparison = compare(&four(), &CompareOptions::default());
    let suite = comparison.suite.outcomes.unwrap();
    near(suite.difference, -4.166_67);
    // −127.375 and 119.041, within what is possible.
    assert_eq!(suite.interval, Some((-100.0, 100.0)));
    near(suite.p_worse, 0.5);
    near(suite.p_better, 0.737_007);
    near(suite.smallest_p, 8.873_24e-9);
    near(suite.noticeable_drop.unwrap(), 37.888_2);
    assert_eq!(
        (suite.runs_for_margin, suite.share),
        (Some(345), Some(0.025))
    );
    let cost = comparison.suite.cost.unwrap();
    near(cost.ratio.unwrap(), 1.100_11);
    near(cost.interval.unwrap().0, 0.822_607);
    near(cost.interval.unwrap().1, 1.471_23);
    near(cost.p_costlier, 0.016_459_1);
    // Significant, but below the margin of 20%.
    assert_eq!(cost.finding, MetricFinding::NoEvidence);
    let behaviour = comparison.suite.behaviour.unwrap();
    near(behaviour.tools.p, 0.0022);
    assert_eq!(behaviour.others, 1);
}

#[test]
fn the_four_agents_as_numbers_agent_by_agent() {
    let comparison = compare(&four(), &CompareOptions::default());
    let found: Vec<_> = comparison.agents.iter().collect();
    let findings = found
        .iter()
        .map(|agent| agent.finding(Metric::Outcomes).unwrap());
    assert!(findings.eq([
        MetricFinding::Regressed,
        MetricFinding::NoEvidence,
        MetricFinding::Improved,
        MetricFinding::NoEvidence
    ]));
    for (agent, worse, better, drop, ratio, median, low, high, costlier) in [
        (
            0,
            0.003_173_83,
            1.0,
            Some(87),
            1.004_88,
            1.004_88,
            0.976_19,
            1.034_31,
            0.349_567,
        ),
        (
            1,
            0.613_291,
            0.613_291,
            None,
            1.446_91,
            1.446_92,
            1.431_03,
            1.462_87,
            0.001_082_25,
        ),
        (
            2,
            1.0,
            0.000_244_141,
            None,
            1.003_28,
            1.003_28,
            0.983_871,
            1.023_03,
            0.349_567,
        ),
        (
            3,
            0.098_509_6,
            1.0,
            Some(87),
            1.004_08,
            1.004_08,
            0.98,
            1.028_69,
            0.349_567,
        ),
    ] {
        let outcomes = found[agent].outcomes.unwrap();
        near(outcomes.p_worse, worse);
        near(outcomes.p_better, better);
        assert_eq!((outcomes.noticeable_drop, outcomes.runs_needed), (drop, 4));
        near(outcomes.share, 0.006_25);
        let cost = found[agent].cost.unwrap();
        let shift = cost.shift.unwrap();
        let interval = shift.interval.unwrap();
        near(cost.ratio.unwrap(), ratio);
        near(shift.ratio, median);
        near(interval.low, low);
        near(interval.high, high);
        near(interval.confidence, 0.958_874);
        near(cost.p_costlier, costlier);
        assert_eq!(cost.finding == MetricFinding::Regressed, agent == 1);
        let behaviour = found[agent].behaviour.as_ref().unwrap();
        let expected = if agent == 3 {
            (0.666_667, 0.002_164_5)
        } else {
            (0.0, 1.0)
        };
        for permuted in [behaviour.tools, behaviour.calls] {
            near(permuted.energy, expected.0);
            near(permuted.p, expected.1);
        }
    }
}

#[test]
fn the_order_of_the_agents_makes_no_difference() {
    let mut samples = four();
    let first = compare(&samples, &CompareOptions::default());
    samples.reverse();
    assert_eq!(first, compare(&samples, &CompareOptions::default()));
    let json = serde_json::to_value(&first).unwrap();
    assert_eq!(json["format"], "compare/1.0");
    assert_eq!(json["decision"], "regressed");
    assert_eq!(json["agents"][0]["outcomes"]["finding"], "regressed");
    assert_eq!(json["agents"][0]["outcomes"]["baseline"]["passed"], 6);
}
