// ---- compare, calibrate, mutants; the history stands apart

  const PAGES = {
    compare: "What changed since the baseline",
    calibrate: "Which thresholds keep good runs and catch bad ones",
    mutants: "Which broken runs the suites notice",
    history: "How the agents did, commit by commit",
  };

  async function evidence(page) {
    const data = await unpack(page);
    document.title = PAGES[page] + " · agent tests";
    trail.replaceChildren(document.createTextNode("› " + page));
    main.replaceChildren();
    append(main, [make("h1", {}, PAGES[page]), { compare, calibrate, mutants, history }[page](data)]);
    window.scrollTo(0, 0);
  }

  // A table of texts; columns from `numbers` on are numbers.
  function plain(label, heads, rows, numbers = Infinity) {
    const kind = (at) => (at >= numbers ? "number" : null);
    return wide(label, make("table", {},
      make("thead", {}, make("tr", {}, heads.map((title, at) => make("th", { scope: "col", class: kind(at) }, title)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, at) =>
        at === 0 ? make("th", { scope: "row", class: "row" }, cell) : make("td", { class: kind(at) }, cell)))))));
  }

  const percent = (share) => (100 * share).toFixed(1) + " %";

  // A value with its interval between two ends; `mark` is where there is no difference.
  function span([low, value, high], [from, to], mark, label) {
    const x = (at) => 4 + (152 * (Math.min(Math.max(at, from), to) - from)) / (to - from || 1);
    return make("span", { class: "span" }, draw("svg", { viewBox: "0 0 160 14", role: "img", "aria-label": label },
      draw("line", { x1: x(mark), x2: x(mark), y1: 0, y2: 14, class: "base" }),
      low === null ? "" : draw("line", { x1: x(low), x2: x(high), y1: 7, y2: 7, class: "curve" }),
      draw("circle", { cx: x(value), cy: 7, r: 3.5, class: "dot" })));
  }

  // The verdict stands beside what it is about, where a narrow page shows it.
  const ORDER = [0, 1, 4, 2, 3];

  function compare(data) {
    const parts = [make("p", {}, marked(data.headline)),
      make("p", { class: "faint" }, shortHashes(data.said.baseline), " → ", shortHashes(data.said.candidate), "; outcomes ", marked(data.said.outcomes))];
    const [outcomes, cost] = [data.suite.outcomes, data.suite.cost];
    const between = (ends) => (ends ? `, 95% interval ${ends.map((end) => short(+end.toFixed(2))).join(" to ")}` : ", no interval");
    const cards = [];
    if (outcomes) {
      const ends = outcomes.interval || [null, null];
      const [value, label] = [outcomes.difference, "points" + between(outcomes.interval)];
      const reach = Math.max(10, ...[value, ...ends].map((end) => Math.abs(end || 0)));
      cards.push(make("section", { class: "card" }, make("h2", {}, "Runs that pass, mean over " + count(outcomes.agents, "agent")),
        make("div", { class: "big" }, (value > 0 ? "+" : "") + short(+value.toFixed(1)) + " points"),
        span([ends[0], value, ends[1]], [-reach, reach], 0, label), make("p", { class: "faint" }, label)));
    }
    if (cost) {
      const ends = cost.interval || [null, null];
      const logs = [ends[0], cost.ratio, ends[1]].map((end) => (end ? Math.log(end) : null));
      const reach = Math.max(Math.log(1.5), ...logs.map((end) => Math.abs(end || 0)));
      const label = "times as many " + data.options.cost + between(cost.interval);
      cards.push(make("section", { class: "card" }, make("h2", {}, "Cost, mean over " + count(cost.agents, "agent")),
        make("div", { class: "big" }, "×" + cost.ratio.toFixed(2)), span(logs, [-reach, reach], 0, label), make("p", { class: "faint" }, label)));
    }
    parts.push(make("div", { class: "cards" }, cards));
    if (data.rows.length) {
      const [head, ...rows] = data.rows;
      const shifts = data.agents.map((agent) => agent.cost && agent.cost.shift);
      const ratios = shifts.flatMap((shift) => (shift && shift.interval ? [shift.interval.low, shift.interval.high] : []));
      const reach = Math.max(Math.log(1.5), ...ratios.filter((ratio) => ratio > 0).map((ratio) => Math.abs(Math.log(ratio))));
      parts.push(make("h2", {}, "Agent by agent"), data.rule && make("p", { class: "faint" }, data.rule), wide("Agent by agent", make("table", {},
        make("thead", {}, make("tr", {}, ORDER.map((at) => make("th", { scope: "col" }, head.cells[at])))),
        make("tbody", {}, rows.map((row, at) => make("tr", {},
          make("th", { scope: "row", class: "row" }, row.cells[0]),
          make("td", { class: "fixed" }, row.cells[1]),
          make("td", { class: "said" }, verdictOf(row.cells[4]), row.described && make("div", { class: "faint" }, marked(row.described))),
          make("td", { class: "fixed" }, row.cells[2], picture(shifts[at], reach, row.cells[2])),
          make("td", { class: "fixed" }, row.cells[3])))))));
    }
    parts.push(make("h2", {}, "Notes"), make("ul", {}, data.notes.map((note) => make("li", {}, marked(note)))));
    return parts;
  }

  // The verdict's word, then what it rests on.
  const FOUND = /^(regressed|costlier|improved|cheaper|no evidence|cannot be told yet|too few runs|nothing to lose|other)\b[: ]*(.*)$/;
  const GOODNESS = { regressed: "bad", costlier: "bad", improved: "good", cheaper: "good", "cannot be told yet": "odd" };
  function verdictOf(text) {
    const found = FOUND.exec(text);
    return found ? [make("strong", { class: GOODNESS[found[1]] }, found[1]), found[2] && make("div", {}, found[2])] : text;
  }

  function picture(shift, reach, label) {
    const ends = shift && shift.interval;
    if (!ends || !(shift.ratio > 0) || !(ends.low > 0)) return null;
    return span([Math.log(ends.low), Math.log(shift.ratio), Math.log(ends.high)], [-reach, reach], 0, label);
  }

  function calibrate(data) {
    return data.suites.map((suite) => [
      make("h2", {}, "Suite " + clean(suite.suite)), make("p", { class: "faint" }, `outcomes ${suite.outcomes}, ${suite.promise}`),
      plain("Targets of " + clean(suite.suite), ["target", "tells passed from failed", "within agents (p)", "limit", "passed runs promised", "stopped, left out", "caught, left out", "verdict"], suite.each_run.map(target)),
      suite.together.length > 0 && [make("h3", {}, "Over all runs of an agent"),
        plain("Targets over all runs of " + clean(suite.suite), ["target", "tells agents apart", "limit", "agents promised", "verdict"], suite.together.map(across))],
      make("h3", {}, "What each limit costs"),
      suite.each_run.filter((one) => one.curve && one.curve.length).map(price),
    ]);
  }

  // An area or a concordance: ½ says nothing.
  function area(value, ends) {
    if (value === undefined || value === null) return "–";
    const label = value.toFixed(3) + (ends ? ` [${ends.map((end) => end.toFixed(3)).join(", ")}]` : "");
    return [make("span", { class: "fixed" }, label), span([ends ? ends[0] : null, value, ends ? ends[1] : null], [0, 1], 0.5, label)];
  }
  const words = (verdict) => verdict.replace(/_/g, " ");
  const of = (number, all) => `${number} of ${all}`;

  function target(one) {
    const { over, within, verdict } = one.power;
    const seen = one.check && one.check.tally;
    return [one.name, over ? area(over.area, over.interval) : "–", within ? `${within.area.toFixed(3)} (${within.p.toFixed(3)})` : "–",
      one.limit ? short(one.limit.rounded) : "–", one.limit ? percent(one.limit.promised) : "–",
      seen ? of(seen.false_alarms, seen.passed) : "–", seen ? of(seen.catches, seen.failed) : "–", words(verdict)];
  }

  function across(one) {
    return [one.name, one.power ? area(one.power.concordance, one.power.interval) : "–", one.limit ? short(one.limit.rounded) : "–",
      one.limit ? percent(one.limit.promised) + (one.limit.enough ? "" : " (too few agents)") : "–", words(one.verdict)];
  }

  function price(one) {
    return make("details", {}, make("summary", {}, `${one.name}: ${words(one.power.verdict)}`),
      make("div", { class: "charts" }, tradeOff(one),
        plain("Limits of " + clean(one.name), ["share of passing runs to keep", "limit", "passed runs stopped", "failed runs caught"],
          one.curve.map((point) => [point.share + " %", point.limit === null ? "–" : short(point.limit),
            of(point.seen.false_alarms, point.seen.passed), of(point.seen.catches, point.seen.failed)]), 1)),
      make("pre", { class: "wrap", tabindex: "0", "aria-label": "What is said of " + clean(one.name) }, one.text));
  }

  // Good runs stopped against bad runs caught; a limit that says nothing lies on the diagonal.
  function tradeOff(one) {
    const [width, height, left, bottom, top] = [320, 170, 38, 34, 10];
    const x = (share) => left + share * (width - left - 10);
    const y = (share) => height - bottom - share * (height - bottom - top);
    const points = one.curve.map(({ seen }) => [seen.false_alarms / (seen.passed || 1), seen.catches / (seen.failed || 1)]);
    const label = one.curve.map((point, at) => `keep ${point.share}%: ${percent(points[at][0])} stopped, ${percent(points[at][1])} caught`).join("; ");
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const share of [0, 0.5, 1]) {
      picture.append(draw("line", { x1: left, x2: width - 10, y1: y(share), y2: y(share), class: "axis" }),
        draw("text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, String(100 * share)),
        draw("text", { x: x(share), y: height - bottom + 14, "text-anchor": "middle" }, String(100 * share)));
    }
    picture.append(draw("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "base" }),
      draw("polyline", { points: points.map(([alarm, caught]) => `${x(alarm)},${y(caught)}`).join(" "), class: "curve" }),
      draw("text", { x: x(0.5), y: height - 4, "text-anchor": "middle" }, "passed runs stopped, in percent"));
    points.forEach(([alarm, caught]) => picture.append(draw("circle", { cx: x(alarm), cy: y(caught), r: 3, class: "dot" })));
    return make("figure", {}, make("figcaption", {}, "failed runs caught, in percent, for limits that keep " + one.curve.map((point) => point.share).join(", ") + " % of passing runs"), picture);
  }

  function mutants(data) {
    const card = (title, score, text) => make("section", { class: "card" }, make("h2", {}, title), make("div", { class: "big" }, score), make("p", { class: "faint" }, text));
    const number = (score) => (score === null || score === undefined ? "no number" : score.toFixed(3));
    const { harm, waste, brittle } = data.scores;
    const counted = ({ killed, mutants }) => `${grouped(killed)} of ${grouped(mutants)}`;
    const [head, ...rows] = data.matrix;
    return [
      make("p", {}, `${count(data.runs, "run")} judged again, each broken in one way at a time.`,
        data.red_before.length > 0 && ` ${count(data.red_before.length, "gate is", "gates are")} red before anything is broken, and notice nothing.`),
      make("div", { class: "cards" },
        card("Harm that is noticed", number(harm.score), counted(harm.count) + " broken runs turn a gate red; the score is the mean over the ways of breaking"),
        card("Waste that is noticed", number(waste.score), counted(waste.count) + " wasteful runs turn a gate red"),
        card("Brittleness", number(data.brittleness), counted(brittle) + " harmless changes turn a gate red")),
      make("h2", {}, "What each gate notices"), plain("What each gate notices", head, rows, 1),
      data.idle_gates.length > 0 && make("p", {}, "Gates that notice nothing: " + clean(data.idle_gates.join(", "))),
      make("h2", {}, "Agents"), plain("Scores of agents", ["agent test", "harm score", "killed", "brittle"],
        data.agents.map((one) => [make("a", { href: address(one.agent) }, one.agent), number(one.harm.score), counted(one.harm.count), counted(one.brittle)]), 1),
      make("h2", {}, "Survivors"), data.survivors.length === 0 ? make("p", {}, "No mutant survived.") : data.survivors.map(survivors),
    ];
  }

  function survivors(group) {
    const more = group.count - group.shown.length;
    return [
      make("h3", {}, `${group.operator}: ${count(group.count, "survivor")}`), make("p", {}, "would be killed by " + clean(group.suggestion)),
      group.shown.map((one) => make("details", { open: one === group.shown[0] },
        make("summary", {}, one.line),
        make("p", { class: "faint" }, "in " + clean(one.origin), one.covered ? null : "; no gate holds on this run"),
        lines("Difference of " + clean(one.line), "diff", one.diff.trimEnd().split("\n").map((line) =>
          make("span", { class: line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : null }, line + "\n"))))),
      more > 0 && make("p", { class: "faint" }, `and ${count(more, "other")}`),
    ];
  }
