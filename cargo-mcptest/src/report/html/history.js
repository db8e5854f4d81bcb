// ---- the history

  const dated = (commit) => new Date(1000 * commit.time).toISOString().slice(0, 10);
  const named = (one) => [commit(one.name), ` ${dated(one)} ${one.subject}`];
  // The same as a text.
  const label = (one) => `${one.name.slice(0, 12)} ${dated(one)} ${one.subject}`;
  const KINDS = { worse: "bad", better: "good", other: "odd" };
  const rounded = (number) => (number >= 100 ? grouped(Math.round(number)) : String(+number.toPrecision(3)));

  function history(data) {
    const { commits, agents } = data;
    const changes = agents.flatMap((agent) => agent.changes.map((change) => ({ ...change, agent })));
    changes.sort((one, other) => other.commit - one.commit);
    return [
      make("p", {}, `${count(commits.length, "commit")} that touched recordings or results: `, named(commits[0]),
        commits.length > 1 && [" to ", named(commits[commits.length - 1])], ". ",
        `The suites of today judge ${count(data.files, "recording")} of these commits. A mark is a commit in which a test finds a change; if nothing changed, the chance of any mark is at most 5 % for outcomes, and the same for tokens, for time and for dollars.`),
      data.notes.map((note) => make("p", { class: "odd" }, marked(note))),
      make("h2", {}, "Changes"),
      changes.length === 0 ? make("p", {}, "No commit changed what the agents do by more than chance.")
        : plain("Changes", ["agent test", "what changed", "commit"], changes.map((change) => [
          make("a", { href: address(change.agent.case) }, change.agent.case),
          [make("strong", { class: KINDS[change.kind] }, change.kind), ": " + said(change)], named(commits[change.commit])])),
      make("h2", {}, "Agent by agent"),
      [...agents].sort((one, other) => other.changes.length - one.changes.length).map((agent) => past(agent, commits)),
    ];
  }

  // What a test found, in words.
  function said({ of, found }) {
    if (of === "asked") return "recorded with another model or prompt, so it is not compared with before";
    const [before, now] = found;
    if (of === "outcomes") return `${before.passed} of ${count(before.runs, "run")} passed before, ${now.passed} of ${now.runs} since`;
    const amount = (mean) => (of === "usd" ? "$" + +mean.toPrecision(3) : rounded(mean) + (of === "ms" ? " ms" : " tokens"));
    const percent = Math.round(100 * (now / before - 1));
    return `${amount(before)} a run before, ${amount(now)} since` + (before > 0 ? ` (${percent > 0 ? "+" : ""}${percent} %)` : "");
  }

  // An agent: what of it is known, each as a chart over all commits, so that those of all agents stand in line.
  function past(agent, commits) {
    const shares = agent.points.filter((point) => point.share);
    const charts = [
      shares.length > 0 && line("runs that pass, %", "outcomes", agent, commits, (point) => point.share && point.share.map((share) => 100 * share), 100),
      ...[["tokens of a run", "tokens"], ["milliseconds of a run", "ms"], ["dollars of a run", "usd"]].map(([title, key]) =>
        agent.points.some((point) => point[key] !== null) && line(title, key, agent, commits, (point) => (point[key] === null ? null : [null, point[key], null]))),
    ].filter(Boolean);
    const last = agent.points[agent.points.length - 1];
    return make("section", {},
      make("h3", {}, make("a", { href: address(agent.case) }, agent.case)),
      make("p", { class: "faint" }, `${last.passed} of ${count(last.judged, "run")} passed in the last of ${count(agent.points.length, "commit")} that changed its recordings; whether a run passed: ${agent.outcomes}`),
      charts.length > 0 && make("div", { class: "charts" }, charts),
      make("details", {}, make("summary", {}, "The numbers"),
        plain("Numbers of " + clean(agent.case), ["commit", "passed", "tokens", "ms", "dollars"], agent.points.map((point) => [
          named(commits[point.commit]), `${point.passed} of ${point.judged}` + (point.judged < point.runs ? `, ${point.runs - point.judged} unknown` : ""),
          ...["tokens", "ms", "usd"].map((key) => (point[key] === null ? "–" : rounded(point[key])))]), 2)));
  }

  // Values over the commits, each until the next one; with its interval, and a mark where a test finds a change.
  function line(title, key, agent, commits, value, most) {
    const [width, height, left, bottom, top] = [320, 110, 44, 18, 10];
    const points = agent.points.map((point) => [point.commit, value(point)]).filter(([, values]) => values);
    const high = most || 1.1 * Math.max(...points.map(([, values]) => values[1]), 1e-9);
    const x = (at) => left + (at * (width - left - 10)) / Math.max(commits.length - 1, 1);
    const y = (number) => height - bottom - (Math.min(number, high) * (height - bottom - top)) / high;
    const text = `${title}: ` + points.map(([at, values]) => `${rounded(values[1])} in ${commits[at].name.slice(0, 12)}`).join(", ");
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text });
    for (const number of [0, high / 2, high]) {
      picture.append(draw("line", { x1: left, x2: width - 10, y1: y(number), y2: y(number), class: "axis" }),
        draw("text", { x: left - 5, y: y(number) + 4, "text-anchor": "end" }, rounded(number)));
    }
    const end = (place) => (place + 1 < points.length ? points[place + 1][0] : commits.length - 1);
    points.forEach(([at, [low, , top_]], place) => low !== null && picture.append(
      draw("rect", { x: x(at) - 2, width: Math.max(x(end(place)) - x(at), 4), y: y(top_), height: Math.max(y(low) - y(top_), 1), class: "band" })));
    const path = points.map(([at, [, middle]], place) => `${place ? "L" : "M"}${x(at)} ${y(middle)}H${x(end(place))}`).join("");
    picture.append(draw("path", { d: path, class: "curve" }));
    points.forEach(([at, [, middle]]) => picture.append(draw("circle", { cx: x(at), cy: y(middle), r: 2.5, class: "dot" },
      draw("title", {}, label(commits[at]) + ": " + rounded(middle)))));
    for (const change of agent.changes.filter(({ of }) => of === key || of === "asked")) {
      picture.append(draw("line", { x1: x(change.commit), x2: x(change.commit), y1: top - 6, y2: height - bottom, class: "change " + change.kind },
        draw("title", {}, `${change.kind}: ${label(commits[change.commit])}: ${said(change)}`)));
    }
    days(commits, x, [left, width - 10]).forEach(([at, anchor, day]) => picture.append(draw("text", { x: at, y: height - 4, "text-anchor": anchor, class: "day" }, day)));
    return make("figure", {}, make("figcaption", {}, title), picture);
  }

  // The days on the axis, each once: the first and the last one, and those between them for which there is room.
  function days(commits, x, [from, to]) {
    const ROOM = 70;
    const firsts = commits.map((one, at) => [x(at), dated(one)]).filter(([, day], at) => at === 0 || dated(commits[at - 1]) !== day);
    const last = dated(commits[commits.length - 1]);
    const placed = [[from, "start", firsts[0][1]]];
    if (last === firsts[0][1]) return placed;
    let taken = from + ROOM;
    for (const [at, day] of firsts.slice(1)) {
      if (day === last || placed.some(([, , known]) => known === day) || at - ROOM / 2 < taken || at + ROOM / 2 > to - ROOM) continue;
      placed.push([at, "middle", day]);
      taken = at + ROOM / 2;
    }
    return [...placed, [to, "end", last]];
  }
