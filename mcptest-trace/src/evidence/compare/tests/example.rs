//! The worked example: as text, as Markdown and as numbers.

use super::*;

#[test]
fn the_four_agents_as_text() {
    let comparison = compare(&four(), &CompareOptions::default());
    assert_eq!(
        comparison.text(),
        "\
agent        passed        tokens                     behaviour     verdict
a_refund     6/6 → 1/6     ×1.00 [0.98, 1.03]         same          regressed   p 0.0032 ≤ 0.00625, 83 points
b_search     5/6 → 5/6     ×1.45 [1.43, 1.46]         same          costlier    p 0.0011, outcomes: no evidence
c_book       0/6 → 6/6     ×1.00 [0.98, 1.02]         same          improved    p 0.0002
d_cancel     6/6 → 4/6     ×1.00 [0.98, 1.03]         other p 0.002 no evidence a drop of 87 points would have been noticed
             new `close` in 6 of 6, lost `cancel`
all 4        −4.2 points   ×1.10 [0.82, 1.47]         other p 0.002 no evidence p 0.50; 37.9 points would have been noticed
2 regressed, 1 improved. Exit status 1.
"
    );
}

#[test]
fn the_four_agents_as_markdown() {
    let text = compare(&four(), &CompareOptions::default()).markdown();
    assert_eq!(
        text,
        "\
| agent | passed | tokens | behaviour | verdict |
|---|---|---|---|---|
| `a_refund` | 6/6 → 1/6 | ×1.00 [0.98, 1.03] | same | regressed p 0.0032 ≤ 0.00625, 83 points |
| `b_search` | 5/6 → 5/6 | ×1.45 [1.43, 1.46] | same | costlier p 0.0011, outcomes: no evidence |
| `c_book` | 0/6 → 6/6 | ×1.00 [0.98, 1.02] | same | improved p 0.0002 |
| `d_cancel` | 6/6 → 4/6 | ×1.00 [0.98, 1.03] | other p 0.002 | no evidence a drop of 87 points would have been noticed<br>new `close` in 6 of 6, lost `cancel` |
| all 4 | −4.2 points | ×1.10 [0.82, 1.47] | other p 0.002 | no evidence p 0.50; 37.9 points would have been noticed |

2 regressed, 1 improved. Exit status 1.
"
    );
    let hostile = vec![both("a|b`<i>", side(6, 10, "x|y"), side(6, 10, "z\n"))];
    let text = compare(&hostile, &CompareOptions::default()).markdown();
    assert!(
        text.lines()
            .nth(2)
            .is_some_and(|row| row.starts_with("| `a\\|bʼ<i>` |")),
        "{text}"
    );
    assert!(text.contains("lost `x\\|y`"));
}

#[test]
fn the_four_agents_as_numbers() {
    let comparison = compare(&four(), &CompareOptions::default());
    let suite = comparison.suite.outcomes.unwrap();
    near(suite.difference, -4.166_67);
    near(suite.interval.unwrap().0, -127.375);
    near(suite.interval.unwrap().1, 119.041);
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
