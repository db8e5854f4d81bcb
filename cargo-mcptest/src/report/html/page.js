"use strict";
(() => {
  const main = document.getElementById("main");
  const trail = document.getElementById("trail");
  const DRAWN_AT_ONCE = 100;
  const LONG = 600;

  // ---- data

  const unpacked = new Map();
  function unpack(id) {
    if (!unpacked.has(id)) {
      const packed = document.getElementById(id).textContent;
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      unpacked.set(id, new Response(stream).json());
    }
    return unpacked.get(id);
  }

  // ---- elements; text of recordings only ever goes through `clean` into a text node

  // Control and direction characters are shown as what they are.
  const HOSTILE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  function clean(text) {
    return String(text).replace(HOSTILE, (letter) => "\\u{" + letter.charCodeAt(0).toString(16) + "}");
  }

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? "" : value);
    }
    append(element, children);
    return element;
  }
  function append(element, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : document.createTextNode(clean(child)));
    }
  }
  const SVG = "http://www.w3.org/2000/svg";
  function draw(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    append(element, children);
    return element;
  }

  // ---- boxes that are scrolled: what does not fit says so

  const boxes = new ResizeObserver((entries) => entries.forEach(({ target }) => (target.update || target.parentElement.update)()));
  // A box, and a line that is there while a part of the box is out of sight: above what is tall, else below it.
  function cut(box, isTall) {
    const text = make("span");
    const all = make("button", { type: "button", onclick: () => { box.classList.add("whole"); box.update(); } });
    const line = make("p", { class: "cut", hidden: true }, text, " ", all);
    box.update = () => {
      const rows = (height) => Math.round(height / parseFloat(getComputedStyle(box).lineHeight));
      const [sideways, down] = [box.scrollWidth > box.clientWidth + 1, box.scrollHeight > box.clientHeight + 1];
      text.textContent = sideways ? "→ This box is wider than it looks: scroll sideways to see the rest." : "";
      all.hidden = !down;
      if (down) all.textContent = `↓ show all ${count(rows(box.scrollHeight), "line")}`;
      line.hidden = !sideways && !down;
    };
    boxes.observe(box);
    if (box.firstElementChild) boxes.observe(box.firstElementChild);
    return make("div", { class: "box" }, isTall ? [line, box] : [box, line]);
  }

  // Something wide, scrolled by keyboard too.
  const wide = (label, ...children) => cut(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, children), true);
  // A text that keeps its lines.
  const lines = (label, kind, ...children) => cut(make("pre", { class: kind, tabindex: "0", "aria-label": label }, children));

  const WORDS = { passed: "passed", failed: "failed", ignored: "not judged" };
  const SIGNS = { passed: "✓ ", failed: "✕ ", ignored: "– " };
  const badge = (status, text) => make("span", { class: "badge " + status }, SIGNS[status], text || WORDS[status]);
  const count = (number, one, many) => grouped(number) + " " + (number === 1 ? one : many || one + "s");
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const short = (number) => (Number.isInteger(number) ? grouped(number) : String(+number.toFixed(4)));
  // A commit by the first digits of its name; the whole name is one look away.
  const commit = (name) => make("span", { class: "commit", title: name }, name.slice(0, 12));
  // Text with names of commits in it.
  const HASH = /\b([0-9a-f]{64}|[0-9a-f]{40})\b/;
  const shortHashes = (text) => text.split(HASH).map((part, at) => (at % 2 ? commit(part) : part));
  const address = (name) => "#case=" + encodeURIComponent(name);

  // A text that is folded where it is long.
  function folded(text, label) {
    if (text.length <= LONG) return make("pre", { class: "wrap" }, text);
    const pre = make("pre", { class: "wrap" }, text.slice(0, LONG) + " …");
    const more = make("button", {
      type: "button",
      onclick: () => { pre.replaceChildren(clean(text)); more.remove(); },
    }, `show all ${count(text.length, "character")} of ${label}`);
    return make("div", {}, pre, more);
  }

  // ---- charts

  // Points over 1, 2, …; `range` is what the vertical axis spans.
  function chart(title, points, { range, band, limit, base, trip, label }) {
    const [width, height, left, bottom, top] = [320, 150, 38, 22, 10];
    const last = Math.max(points.length - 1, 1);
    const x = (at) => left + (at * (width - left - 10)) / last;
    const y = (value) => height - bottom - ((value - range[0]) * (height - bottom - top)) / (range[1] - range[0] || 1);
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const value of [range[0], (range[0] + range[1]) / 2, range[1]]) {
      picture.append(
        draw("line", { x1: left, x2: width - 10, y1: y(value), y2: y(value), class: "axis" }),
        draw("text", { x: left - 5, y: y(value) + 4, "text-anchor": "end" }, short(+value.toFixed(2))),
      );
    }
    if (band && band.every(([low, high]) => low !== null && high !== null)) {
      const there = band.map(([, high], at) => `${x(at)},${y(high)}`);
      const back = band.map(([low], at) => `${x(at)},${y(low)}`).reverse();
      picture.append(draw("polygon", { points: there.concat(back).join(" "), class: "band" }));
    }
    for (const [value, kind] of [[limit, "limit"], [base, "base"]]) {
      if (value !== undefined) picture.append(draw("line", { x1: left, x2: width - 10, y1: y(value), y2: y(value), class: kind }));
    }
    picture.append(draw("polyline", { points: points.map((value, at) => `${x(at)},${y(value)}`).join(" "), class: "curve" }));
    if (points.length <= 40) {
      points.forEach((value, at) => picture.append(draw("circle", { cx: x(at), cy: y(value), r: 2.5, class: "dot" })));
    }
    if (trip) picture.append(draw("circle", { cx: x(trip - 1), cy: y(points[trip - 1]), r: 5, class: "trip" }));
    picture.append(draw("text", { x: left, y: height - 5 }, "1"));
    if (points.length > 1) picture.append(draw("text", { x: x(last), y: height - 5, "text-anchor": "end" }, String(points.length)));
    return make("figure", {}, make("figcaption", {}, title), picture);
  }

  // ---- overview

  const passed = ({ runs }) => {
    if (runs.length === 0) return "no runs";
    const unknown = runs.filter(([pass]) => pass === null).length;
    return `${runs.filter(([pass]) => pass === true).length} of ${count(runs.length, "run")} passed` + (unknown ? `, ${unknown} unknown` : "");
  };

  function sparks(runs) {
    const most = Math.max(1, ...runs.map(([, calls]) => calls));
    const label = passed({ runs });
    const bars = runs.slice(0, 40).map(([pass, calls]) =>
      make("i", { class: pass === null ? "" : pass ? "pass" : "fail", style: `height:${4 + Math.round((18 * calls) / most)}px` }));
    const more = runs.length > bars.length && make("span", { class: "faint" }, ` +${grouped(runs.length - bars.length)}`);
    return [make("span", { class: "spark", role: "img", "aria-label": label, title: label }, bars), more];
  }

  // How many of the runs passed, before and now: `6/6 → 1/6`.
  const share = ([passed, runs]) => passed / (runs || 1);
  const arrow = (before, now) => make("span", { class: "fixed" + (share(now) < share(before) ? " bad" : share(now) > share(before) ? " good" : "") },
    `${before.join("/")} → ${now.join("/")}`);
  const passedShare = (row) => row.runs.filter(([pass]) => pass === true).length / (row.runs.length || 1);
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const COLUMNS = [
    { title: "Verdict", key: (row) => ["failed", "ignored", "passed"].indexOf(row.status), cell: (row) => badge(row.status) },
    {
      title: "Agent", key: (row) => row.name.toLowerCase(), class: "name",
      cell: (row) => [make("a", { href: address(row.case) }, row.name), make("div", { class: "faint" }, row.case)],
    },
    { title: "Model", key: (row) => row.model, class: "optional", cell: (row) => row.model },
    { title: "Runs", key: passedShare, cell: (row) => sparks(row.runs) },
    {
      title: "Passed", class: "number", key: passedShare,
      cell: (row) => {
        const known = row.runs.filter(([pass]) => pass !== null);
        const compared = row.standing && row.standing.before;
        if (compared) return arrow(row.standing.before, row.standing.now);
        return known.length ? known.filter(([pass]) => pass).length + " of " + row.runs.length : "unknown";
      },
    },
    { title: "Calls", class: "number optional", key: (row) => sum(row.runs.map(([, calls]) => calls)), cell: (row) => grouped(sum(row.runs.map(([, calls]) => calls))) },
    { title: "Errors", class: "number optional", key: (row) => sum(row.runs.map(([, , errors]) => errors)), cell: (row) => grouped(sum(row.runs.map(([, , errors]) => errors))) },
    { title: "Tokens", class: "number optional", key: (row) => row.tokens, cell: (row) => (row.tokens ? grouped(row.tokens) : "–") },
    {
      title: "Failed cases", class: "optional", key: (row) => row.cases.filter(([, status]) => status === "failed").length,
      cell: (row) => make("div", { class: "gates" }, row.cases.filter(([, status]) => status === "failed").map(([gate]) => badge("failed", gate || "expect"))),
    },
  ];

  let asked = { text: "", status: "", gate: "", column: 0, down: false };

  async function overview() {
    const data = await unpack("overview");
    const title = data.project ? "Agent tests of " + clean(data.project) : "Agent tests";
    document.title = title;
    trail.replaceChildren();
    const cards = make("div", { class: "cards" },
      make("section", { class: "card" }, make("h2", {}, "Cases"),
        make("div", { class: "big " + (data.failed ? "bad" : "good") }, data.failed ? count(data.failed, "fails", "fail") : "all hold"),
        make("p", { class: "faint" }, `${grouped(data.passed)} passed, ${grouped(data.failed)} failed, ${grouped(data.ignored)} not judged`)),
      make("section", { class: "card" }, make("h2", {}, "Runs"),
        make("div", { class: "big" }, `${grouped(data.runs_passed)} of ${grouped(data.runs)}`),
        make("p", { class: "faint" }, "passed, by the recorded outcome, else by the gates that judge run by run")),
      make("section", { class: "card" }, make("h2", {}, "Cost"),
        make("div", { class: "big" }, data.tokens ? grouped(data.tokens) : "unknown"),
        make("p", { class: "faint" }, "tokens, " + count(data.calls, "tool call") +
          (data.without_tokens ? `; ${count(data.without_tokens, "run")} without recorded tokens` : ""))));
    const parts = [make("h1", {}, title), state(data), data.notes.map((note) => make("p", { class: "odd" }, marked(note))), cards];
    const past = data.pages.includes("history") ? await unpack("history") : null;
    if (data.failing.length) parts.push(...failing(data, past));
    if (data.pages.length) parts.push(make("ul", { class: "pages" }, data.pages.map((page) => make("li", {}, make("a", { href: "#" + page }, PAGES[page])))));
    if (data.curve.length) parts.push(...passCurve(data.curve));
    if (data.changes) {
      parts.push(make("h2", {}, "What changed since ", shortHashes(data.changes.baseline)), make("p", {}, marked(data.changes.summary), " ", make("a", { href: "#compare" }, "The whole comparison")));
      if (data.changes.rows.length) {
        const columns = data.changes.rows.some(([, , , described]) => described) ? 4 : 3;
        parts.push(plain("What changed", ["Agent", "Passed", "Verdict", "Only on one side"].slice(0, columns),
          data.changes.rows.map(([agent, passed, verdict, described]) =>
            [agent, passed && make("span", { class: "fixed" }, passed), verdictOf(verdict), shortHashes(described)].slice(0, columns))));
      }
    }
    if (data.refused.length) {
      parts.push(make("h2", {}, "Suites that do not load"), data.refused.map((refused) =>
        make("section", { class: "case failed", id: "case=" + refused.case }, make("h3", {}, badge("failed"), " ", refused.case), failure("Problems of " + clean(refused.case), refused.text))));
    }
    if (data.agents.length || !data.refused.length) parts.push(...table(data.agents));
    main.replaceChildren();
    append(main, parts);
  }

  // Text with `names` in it, and with names of commits. A text that was cut may have half a name.
  function marked(text) {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, at) => (at % 2 ? make("code", {}, shortHashes(part)) : shortHashes(part))) : shortHashes(text);
  }

  // What is said of a case beside the name of its gate.
  function shortened({ gate, summary }) {
    const name = "`" + (gate || "expect") + "` ";
    return summary.startsWith(name) ? summary.slice(name.length) : summary;
  }

  // Which state of which project this is.
  function state(data) {
    const parts = [];
    if (data.commit) {
      parts.push(["commit ", commit(data.commit.name), " of " + dated(data.commit)], data.commit.subject);
      if (data.commit.changed) parts.push("with changes that are not committed");
    }
    if (data.day) parts.push("written on " + data.day);
    return parts.length > 0 && make("p", { class: "faint" }, parts.map((part, at) => [at > 0 && " · ", part]));
  }

  // What pass^k is, in a picture; the numbers on demand. Over other agents it would be another mean, so the picture
  // ends where the first agent has no more runs.
  function passCurve(curve) {
    const alike = curve.filter((point) => point.agents === curve[0].agents);
    const means = alike.map((point) => point.mean);
    const end = (value) => (value === null ? "–" : value.toFixed(1) + " %");
    return [make("h2", {}, "pass^k"), make("p", { class: "faint" }, "pass^k is the chance that all of k runs of an agent pass."),
      alike.length > 1 && make("div", { class: "charts" }, chart(`pass^k in percent, mean over ${count(curve[0].agents, "agent")} with its 95% interval`, means, {
        range: [0, 100], band: alike.map((point) => [point.low, point.high]),
        label: "pass^k: " + means.map((mean, at) => `k ${at + 1}: ${mean.toFixed(1)}%`).join(", "),
      })),
      make("details", { open: alike.length < 2 }, make("summary", {}, "The numbers"),
        plain("pass^k in numbers", ["k", "pass^k", "from", "to", "agents with so many runs"],
          curve.map((point, at) => [String(at + 1), end(point.mean), end(point.low), end(point.high), String(point.agents)]), 1))];
  }

  // Cases of which the same is said.
  function alike(cases) {
    const groups = new Map();
    for (const one of cases) {
      const said = JSON.stringify([shortened(one), one.evidence]);
      groups.set(said, [...(groups.get(said) || []), one]);
    }
    return [...groups.values()];
  }

  // Which agents fail, from what they fell, since when, why, and the command for each case. The worst agent comes first.
  function failing({ agents: rows, failing: cases, changes }, past) {
    const MOST = 10;
    const OPEN = 4;
    const counts = new Map();
    for (const one of cases) counts.set(one.gate, (counts.get(one.gate) || 0) + 1);
    const gates = [...counts].sort((left, right) => right[1] - left[1]);
    const agents = rows.map((row, at) => ({ row, cases: cases.filter((one) => one.agent === at) })).filter((agent) => agent.cases.length);
    const fall = ({ row }) => (row.standing && row.standing.before ? share(row.standing.before) - share(row.standing.now) : 0);
    agents.sort((left, right) => fall(right) - fall(left) || passedShare(left.row) - passedShare(right.row) || right.cases.length - left.cases.length);
    const names = new Map();
    for (const row of rows) names.set(row.name, (names.get(row.name) || 0) + 1);
    const caseOf = (group) => make("details", { open: cases.length <= OPEN },
      make("summary", {}, group.map((one) => [badge("failed", one.gate || "expect"), " "]), marked(shortened(group[0]))),
      group[0].evidence && lines("Evidence", null, textLines(group[0].evidence)),
      group[0].more > 0 && make("p", { class: "faint" }, make("a", { href: address(group[0].case) }, `${count(group[0].more, "more line")} on the agent's page`)),
      group.map((one) => make("p", { class: "faint" }, one.place, one.command && [" · run this case alone: ", make("code", {}, one.command)])));
    const section = ({ row, cases }) => make("section", { class: "case failed" },
      make("h3", {}, make("a", { href: address(row.case) }, row.name), " ", names.get(row.name) > 1 && make("span", { class: "faint" }, `${row.case} (${row.model}) `),
        sparks(row.runs), " ", standing(row, past, changes)),
      since(row, past), alike(cases).map(caseOf));
    const rest = make("details", {}, make("summary", {}, count(agents.length - MOST, "more agent")));
    rest.addEventListener("toggle", () => { if (rest.children.length === 1) append(rest, agents.slice(MOST).map(section)); });
    return [
      make("h2", {}, "What fails"),
      make("p", {}, `${grouped(agents.length)} of ${count(rows.length, "agent")}. `, gates.map(([gate, number], at) => make("span", { class: "fixed" },
        !gate ? badge("failed", "expect") : make("button", {
          type: "button", class: "quiet", "aria-label": "show the agents that fail " + clean(gate),
          onclick: () => { asked = { ...asked, text: "", gate, status: "failed" }; go().then(() => document.getElementById("agents").scrollIntoView()); },
        }, badge("failed", gate)), " " + grouped(number), at + 1 < gates.length ? ", " : "")).flatMap((one) => [one, " "])),
      agents.slice(0, MOST).map(section),
      agents.length > MOST && rest,
    ];
  }

  // How many runs passed: before and now where a baseline or the history says it.
  const STANDINGS = {
    unchanged: "recordings unchanged since ", new: "new since ", gone: "recordings gone since ",
    not_comparable: "not comparable with ", unknown: "outcomes not known on both sides, compared with ",
  };
  function standing(row, past, changes) {
    const faint = (...parts) => make("span", { class: "faint" }, parts);
    const found = row.standing;
    if (found && found.before) {
      const all = found.now[1] === row.runs.length ? null : `; ${passed(row)} in all`;
      return [arrow(found.before, found.now), faint(" runs passed, since ", shortHashes(changes.baseline), all)];
    }
    if (found) return faint(passed(row), " · ", STANDINGS[found.kind], shortHashes(changes.baseline));
    const best = better(row, past);
    return best ? [arrow(...best.shares), faint(" runs passed; before: ", named(best.commit))] : faint(passed(row));
  }

  // The last commit in which more of an agent's runs passed, and the shares then and now.
  function better(row, past) {
    const agent = past && past.agents.find((agent) => agent.case === row.case);
    const known = row.runs.filter(([pass]) => pass !== null);
    if (!agent || known.length === 0) return null;
    const now = [known.filter(([pass]) => pass).length, known.length];
    const point = agent.points.filter((point) => point.judged > 0 && point.passed / point.judged > share(now)).pop();
    return point ? { commit: past.commits[point.commit], shares: [[point.passed, point.judged], now] } : null;
  }

  // The last commit in which a test found that an agent became worse.
  function since(row, past) {
    const agent = past && past.agents.find((agent) => agent.case === row.case);
    const worse = agent && agent.changes.filter((change) => change.kind === "worse").pop();
    return worse && make("p", { class: "bad" }, "worse since ", named(past.commits[worse.commit]), ": " + said(worse));
  }

  function table(rows) {
    const found = make("p", { class: "faint", role: "status" });
    const body = make("tbody");
    const more = make("div");
    const gates = [...new Set(rows.flatMap((row) => row.cases.map(([gate]) => gate)))].filter(Boolean).sort();
    let shown = [];
    const fill = (upTo) => {
      for (const row of shown.slice(body.children.length, upTo)) {
        body.append(make("tr", {}, COLUMNS.map((column) => make("td", { class: column.class }, column.cell(row)))));
      }
      more.hidden = body.children.length >= shown.length;
    };
    const refresh = () => {
      const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
      shown = rows.filter((row) => {
        const text = `${row.name} ${row.case} ${row.model}`.toLowerCase();
        const gate = row.cases.find(([gate]) => gate === asked.gate);
        const status = asked.gate ? gate && gate[1] : row.status;
        return words.every((word) => text.includes(word)) && (!asked.gate || gate) && (!asked.status || status === asked.status);
      });
      const key = COLUMNS[asked.column].key;
      const order = (left, right) => (left < right ? -1 : left > right ? 1 : 0);
      shown.sort((left, right) => (asked.down ? -1 : 1) * order(key(left), key(right)) || order(left.case, right.case));
      found.replaceChildren(count(shown.length, "agent") + (shown.length < rows.length ? ` of ${grouped(rows.length)}` : ""));
      body.replaceChildren();
      fill(DRAWN_AT_ONCE);
    };
    const heads = COLUMNS.map((column, at) => {
      const head = make("th", { scope: "col", class: column.class });
      head.append(make("button", {
        type: "button",
        onclick: () => {
          asked.down = asked.column === at && !asked.down;
          asked.column = at;
          mark();
          refresh();
        },
      }, column.title));
      return head;
    });
    const mark = () => heads.forEach((head, at) => {
      if (at === asked.column) head.setAttribute("aria-sort", asked.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const option = (value, text, chosen) => make("option", { value, selected: value === chosen }, text);
    const tools = make("div", { class: "tools", role: "search" },
      make("label", {}, "Search", make("input", { type: "search", value: asked.text, oninput: (event) => { asked.text = event.target.value; refresh(); } })),
      make("label", {}, "Verdict", make("select", { onchange: (event) => { asked.status = event.target.value; refresh(); } },
        option("", "any", asked.status), Object.entries(WORDS).map(([value, text]) => option(value, text, asked.status)))),
      make("label", {}, "Gate", make("select", { onchange: (event) => { asked.gate = event.target.value; refresh(); } },
        option("", "any", asked.gate), gates.map((gate) => option(gate, gate, asked.gate)))),
      found);
    more.append(make("button", { type: "button", onclick: () => fill(body.children.length + DRAWN_AT_ONCE) }, "show more"));
    new IntersectionObserver((seen) => {
      if (seen.some((entry) => entry.isIntersecting)) fill(body.children.length + DRAWN_AT_ONCE);
    }, { rootMargin: "400px" }).observe(more);
    window.onbeforeprint = () => fill(shown.length);
    mark();
    refresh();
    return [make("h2", { id: "agents" }, "Agents"), tools,
      wide("Agents", make("table", { "aria-labelledby": "agents" }, make("thead", {}, make("tr", {}, heads)), body)), more];
  }

  // ---- an agent

  async function agent(place, row, name) {
    const [data, overview] = [await unpack("agent-" + place), await unpack("overview")];
    const past = overview.pages.includes("history") ? await unpack("history") : null;
    document.title = clean(row.name) + " · agent tests";
    trail.replaceChildren(document.createTextNode("› " + clean(row.case)));
    const parts = [
      make("h1", {}, badge(row.status), " ", row.name),
      make("p", {}, make("span", { class: "faint" }, row.model + ", "), standing(row, past, overview.changes)),
      since(row, past),
      data.unusable && make("section", { class: "case failed" }, make("h3", {}, "The recordings cannot be used"), failure("Problems of the recordings", data.unusable)),
      make("h2", {}, "Cases"),
      data.notes.map(([note, gates]) => make("p", { class: "odd" }, marked(note), make("span", { class: "faint" }, " (" + gates.join(", ") + ")"))),
      // What fails is looked for first.
      [...data.cases].sort((left, right) => (right.status === "failed") - (left.status === "failed")).map((one) => caseOf(one, data, name)),
    ];
    if (data.runs.length) {
      parts.push(make("h2", {}, "Runs side by side"), legend(data),
        cut(make("div", { class: "runs", tabindex: "0", role: "region", "aria-label": "Runs side by side" }, data.runs.map((run, at) => [runOf(run, at), run.played && playedOf(run.played, at)])), true),
        ...(data.sub_scores ? [make("h2", {}, "Sub-scores of stability"), scores(data)] : []), ...curves(data));
    }
    parts.push(make("h2", {}, "Prompt"), data.prompts.map(([text, runs]) => [
      data.prompts.length > 1 && make("p", { class: "faint" }, "of " + runs.map((run) => "run " + (run + 1)).join(", ")),
      folded(text, "the prompt"),
    ]), make("h2", {}, "The suite: " + clean(data.suite.file)), source(data));
    main.replaceChildren();
    append(main, parts);
    const here = [...main.querySelectorAll(".case")].find((element) => element.dataset.case === name);
    if (here && name !== row.case) here.scrollIntoView();
    else window.scrollTo(0, 0);
  }

  function caseOf(one, data, name) {
    const facts = one.judged.map(([what, number]) => `${grouped(number)} ${(number === 1 ? what.replace(/s(?![a-z])/, "") : what).replace(/_/g, " ")}`).join(", ");
    return make("section", { class: "case " + one.status + (one.case === name && one.gate ? " here" : ""), "data-case": one.case },
      make("h3", {}, badge(one.status), " ", make("a", { href: address(one.case) }, one.gate || "expect"), " ",
        make("span", { class: "faint" }, one.line ? `${data.suite.file}:${one.line}` : "")),
      one.reason && make("p", {}, marked(one.reason)),
      facts && make("p", { class: "faint" }, "judged: " + facts),
      one.notes.map((note) => make("p", { class: "odd" }, marked(note))),
      one.failure && failure("Failure of " + clean(one.gate || "expect"), one.failure),
      one.targets.length > 0 && make("details", { open: one.case === name },
        make("summary", {}, count(one.targets.length, "target")), targets(one)));
  }

  // The text of a failure, line by line: sentences break, and what is drawn below code keeps its place.
  const REMARK = /^\s*= (note|help): |^found |^the path leads nowhere: /;
  const textLines = (text) => text.split("\n").map((line) => make("span", { class: "line" + (REMARK.test(line) ? " remark" : "") }, line + "\n"));
  const failure = (label, text) => lines(label, "failure", textLines(text));

  function targets(one) {
    const each = one.targets.some((target) => (target.per_run || []).length);
    const runs = each ? Math.max(...one.targets.map((target) => (target.per_run || []).length)) : 1;
    const many = runs > 10;
    const value = (found) => (found === null || found === undefined ? "none" : typeof found === "number" ? short(found) : typeof found === "string" ? found : JSON.stringify(found));
    const cells = (target) => {
      if (!each) return [value(target.value)];
      const found = target.per_run || [];
      if (!many) return found.map(value);
      const numbers = found.filter((number) => typeof number === "number").sort((left, right) => left - right);
      return numbers.length ? [numbers[0], numbers[numbers.length >> 1], numbers[numbers.length - 1]].map(short) : ["…", "…", "…"];
    };
    const heads = !each ? ["value"] : many ? ["lowest", "median", "highest"] : Array.from({ length: runs }, (_, at) => "run " + (at + 1));
    return wide("Targets of " + clean(one.gate || "expect"), make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "target"), heads.map((head) => make("th", { scope: "col", class: "number" }, head)),
        make("th", { scope: "col" }, "asked"), make("th", { scope: "col", class: "number" }, "margin"), make("th", { scope: "col", class: "optional" }, "what it is"))),
      make("tbody", {}, one.targets.map((target) => make("tr", {},
        make("th", { scope: "row" }, target.name), cells(target).map((cell) => make("td", { class: /^[-\d.,]+$/.test(cell) ? "number" : "text" }, cell)),
        make("td", {}, (target.bounds || []).map((bound) => make("div", { class: bound.holds ? "good" : "bad" },
          (bound.holds ? "✓ " : "✕ ") + (bound.path ? bound.path + " " : "") + bound.asks + (bound.default ? " (default)" : "")))),
        make("td", { class: "number" }, (target.bounds || []).map((bound) => make("div", {}, bound.margin === undefined ? "" : short(bound.margin)))),
        make("td", { class: "optional faint" }, target.better === "neither" ? target.meaning : `${target.meaning}; ${target.better} is better`))))));
  }

  function legend(data) {
    const said = ["✕ an error", "↻ repeats an earlier call", "⚡ an injected fault"];
    if (data.runs.some((run) => run.apart !== null)) said.push("≠ where the runs first differ");
    if (data.plan.length) said.push("◆ expected by the plan");
    if (data.runs.some((run) => run.played)) said.push("Δ the agent's code now differs from the recording");
    return make("p", { class: "faint" }, said.join("   "), data.plan.length ? make("span", {}, make("br"), "plan: " + clean(data.plan.join(" → "))) : null);
  }

  function runOf(run, at) {
    const status = run.passed === null ? "ignored" : run.passed ? "passed" : "failed";
    const facts = [count(run.calls.length, "call"), run.tokens !== null && count(run.tokens, "token"), run.stop].filter(Boolean).join(", ");
    const calls = run.calls.map((call, index) => callOf(call, index, run, at));
    const ends = (mark, text) => make("li", { class: "call parting" }, make("span", { class: "note" }, mark + " " + text));
    if (run.missing.length) calls.push(ends("◆", "expected and never called: " + run.missing.join(", ")));
    if (run.apart !== null && run.apart >= run.calls.length) calls.push(ends("≠", "this run ends here, and others continue"));
    return make("section", { class: "run", "aria-label": "Run " + (at + 1) },
      make("h3", {}, "Run " + (at + 1) + " ", badge(status, run.passed === null ? "unknown" : run.passed ? "passed" : "failed")),
      make("div", { class: "faint" }, facts), make("div", { class: "faint" }, run.origin),
      make("ol", {}, calls),
      run.closing === null ? make("p", { class: "faint" }, "no closing message") : closing(run, at));
  }

  // The run that the agent's code made of a recording, with what differs marked.
  function playedOf(played, at) {
    const facts = [count(played.model_calls, "model call"), count(played.calls.length, "call"), played.exit_status && "exit status " + played.exit_status].filter(Boolean).join(", ");
    const side = (label, text, other) => text === null ? null : make("div", {}, make("div", { class: "faint" }, label), folded(text, other));
    const differences = played.divergences.map((one) => make("li", { class: "call error" }, make("details", {},
      make("summary", {}, "Δ " + one.message, make("span", { class: "note" }, `${one.place}, ${one.path}`)),
      side("recorded", one.recorded, "the recorded value"), side("now", one.played, "the value now"))));
    const turned = played.turned.map((text) => make("li", { class: "call error" }, make("span", { class: "note" }, "Δ holds for the recording only: " + text)));
    const calls = played.calls.map((call, index) => make("li", { class: "call" + (call.differs ? " error" : "") }, make("details", {},
      make("summary", {}, make("span", { class: "place" }, index + 1 + ". "), call.error && make("span", { class: "bad" }, "✕ "), call.differs && "Δ ", call.name,
        call.differs && make("span", { class: "note" }, "Δ " + call.differs)),
      call.server && make("p", { class: "faint" }, "server " + clean(call.server)),
      make("div", { class: "faint" }, "arguments"), folded(call.args || "none", "the arguments"),
      make("div", { class: call.error ? "bad" : "faint" }, call.error ? "result: an error" : "result"),
      call.result === null ? make("p", { class: "faint" }, "none") : folded(call.result, "the result"))));
    if (played.unmade.length) calls.push(make("li", { class: "call error" }, make("span", { class: "note" },
      "Δ recorded, but not made now: " + played.unmade.map((call) => "call " + (call + 1)).join(", "))));
    return make("section", { class: "run played", "aria-label": `Run ${at + 1}, played to the agent's code` },
      make("h3", {}, `Run ${at + 1}, played `, badge("failed", "differs")),
      make("div", { class: "faint" }, facts), played.ended && make("div", { class: "bad" }, played.ended),
      make("ol", { "aria-label": "What differs" }, differences, turned), make("ol", { "aria-label": "Calls" }, calls),
      played.closing === null ? make("p", { class: "faint" }, "no closing message")
        : make("div", {}, make("h4", {}, "Closing", played.closing_differs && make("span", { class: "bad" }, " Δ differs from the recording")), make("div", { class: "closing" }, played.closing)),
      played.stderr.length > 0 && make("details", {}, make("summary", {}, "standard error"), make("pre", { class: "wrap", tabindex: "0" }, played.stderr.join("\n"))));
  }

  function callOf(call, index, run, at) {
    const notes = [];
    if (run.apart === index) notes.push("≠ the runs differ from here on");
    if (call.repeats !== null) notes.push("↻ repeats call " + (call.repeats + 1));
    if (call.fault) notes.push("⚡ " + call.fault);
    if (call.result === null) notes.push("no result");
    const parting = run.apart === index;
    const details = make("details", { id: `run-${at}-call-${index}` },
      make("summary", {}, make("span", { class: "place" }, index + 1 + ". "), call.error && make("span", { class: "bad" }, "✕ "), call.planned && "◆ ", call.name,
        notes.map((note) => make("span", { class: "note" }, note))));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      append(details, [
        call.server && make("p", { class: "faint" }, "server " + clean(call.server)),
        make("div", { class: "faint" }, "arguments"), folded(call.args || "none", "the arguments"),
        make("div", { class: call.error ? "bad" : "faint" }, call.error ? "result: an error" : "result"),
        call.result === null ? make("p", { class: "faint" }, "none recorded") : folded(call.result, "the result"),
      ]);
    });
    return make("li", { class: "call" + (call.error ? " error" : "") + (parting ? " parting" : "") }, details);
  }

  function closing(run, at) {
    const to = (call) => make("a", {
      href: `#run-${at}-call-${call}`,
      onclick: (event) => {
        event.preventDefault();
        const details = document.getElementById(`run-${at}-call-${call}`);
        details.open = true;
        details.querySelector("summary").focus();
      },
    }, "call " + (call + 1));
    const text = make("div", { class: "closing" }, run.closing.map(([piece, claim]) =>
      claim === null ? piece : make("mark", { class: run.claims[claim].verdict, title: run.claims[claim].verdict }, piece)));
    const list = run.claims.map((claim) => {
      const supporting = claim.calls.filter(([, found]) => found === "supports the claim");
      const others = claim.calls.filter(([, found]) => found !== "supports the claim");
      const status = { supported: "good", unsupported: "bad", unclear: "odd" }[claim.verdict];
      return make("li", {}, make("span", { class: status }, claim.verdict), make("span", { class: "faint" }, " rule " + claim.rule),
        claim.why && ": " + claim.why, supporting.length > 0 && [" by ", supporting.map(([call], index) => [index > 0 && ", ", to(call)])],
        others.length > 0 && make("details", {}, make("summary", {}, count(others.length, "other call")),
          make("ul", {}, others.map(([call, found]) => make("li", {}, to(call), " " + found)))));
    });
    return make("div", {}, make("h4", {}, "Closing"), text, list.length > 0 && make("ul", {}, list));
  }

  function scores(data) {
    const lowest = Math.min(0.9999, ...data.runs.flatMap((run) => run.scores));
    // A score alone is no fault: only where the gate fails does the lowest one of a run that failed tell why.
    const fails = data.cases.some((one) => one.gate === "stability" && one.status === "failed");
    return wide("Sub-scores of stability", make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "run"), data.sub_scores.map((name) => make("th", { scope: "col", class: "number" }, name)))),
      make("tbody", {}, data.runs.map((run, at) => make("tr", {}, make("th", { scope: "row" }, String(at + 1)),
        run.scores.map((score) => make("td", { class: "number" + (fails && score === lowest && run.passed === false ? " bad" : "") }, score.toFixed(2) + (score === lowest ? " lowest" : ""))))))));
  }

  function curves(data) {
    const pictures = [];
    if (data.pass_hat.length > 1) {
      pictures.push(chart("pass^k, in percent", data.pass_hat, {
        range: [0, 100], label: "pass^k: " + data.pass_hat.map((share, at) => `k ${at + 1}: ${share.toFixed(1)}%`).join(", "),
      }));
    }
    data.runs.forEach((run, at) => {
      const energy = run.energy;
      if (!energy || energy.ratios.length < 2) return;
      const top = Math.max(energy.threshold, ...energy.ratios) * 1.08;
      const words = [`run ${at + 1}: tokens per model call, as a ratio to the baseline`];
      if (energy.baseline !== null) words.push(`of ${grouped(Math.round(energy.baseline))} tokens`);
      if (energy.estimated) words.push("(estimated)");
      words.push(energy.trip ? `; trips at step ${energy.trip}` : "; does not trip");
      pictures.push(chart(words.join(" ").replace(" ;", ";"), energy.ratios, {
        range: [0, top], limit: energy.threshold, base: 1, trip: energy.trip,
        label: `${words.join(" ")}; threshold ${short(energy.threshold)}, highest ${short(Math.max(...energy.ratios))}`,
      }));
    });
    return pictures.length ? [make("h2", {}, "Curves"), make("div", { class: "charts" }, pictures)] : [];
  }

  function source(data) {
    const asking = new Set(data.cases.map((one) => one.line));
    return lines("Lines of the suite", "source", data.suite.lines.map((line, at) => {
      const number = data.suite.first + at;
      return make("span", { class: asking.has(number) ? "asked" : null }, make("b", {}, String(number)), line + "\n");
    }));
  }

  /*evidence*/
  /*history*/
  // ---- addresses

  async function go() {
    const data = await unpack("overview");
    const page = location.hash.slice(1);
    if (data.pages.includes(page)) {
      await evidence(page);
      main.dataset.ready = location.hash;
      return;
    }
    const named = /^#case=(.*)$/.exec(location.hash);
    let name = "";
    try {
      name = named ? decodeURIComponent(named[1]) : "";
    } catch {
      name = "";
    }
    const of = (row) => name === row.case || row.cases.some(([gate]) => gate && name === row.case + "::" + gate);
    const place = name ? data.agents.findIndex(of) : -1;
    if (place >= 0) await agent(place, data.agents[place], name);
    else {
      await overview();
      const refused = name && document.getElementById("case=" + name);
      if (refused) refused.scrollIntoView();
      else if (name) main.prepend(make("p", { class: "odd" }, `There is no case ${name} in this report.`));
      else window.scrollTo(0, 0);
    }
    main.dataset.ready = location.hash || "#";
  }

  function failed(error) {
    console.error(error);
    main.replaceChildren(make("p", { class: "bad" }, "This report cannot be shown: " + error));
    main.dataset.ready = location.hash || "#";
  }
  window.addEventListener("hashchange", () => { go().then(() => main.focus({ preventScroll: true })).catch(failed); });
  go().catch(failed);
})();
