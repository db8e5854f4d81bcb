// What the tools of the order desk do, and how tests change the code of the agents: `AGENT_CHANGE` names the changes.

const CHANGES = (process.env.AGENT_CHANGE ?? "").split(", ");

export const changed = (name) => CHANGES.includes(name);

const ORDERS = new Map([
  changed("another order of keys")
    ? [7, { total: "18.00 EUR", status: "delivered", order: 7 }]
    : [7, { order: 7, status: "delivered", total: "18.00 EUR" }],
]);

export const SYSTEM = changed("another system prompt") ? "You work at the quick order desk." : "You work at the order desk.";

// How often a loop asks the model at most, and how often an agent is run.
export const MOST = changed("a call too few") ? 2 : 9;
export const RUNS = changed("a call too many") ? 2 : 1;

export async function getOrder({ order }) {
  // Where a library runs calls at once, this one ends after the other.
  if (changed("calls in another order") && order === 7) await new Promise((done) => setTimeout(done, 200));
  if (changed("an argument changed")) order += 1;
  if (!ORDERS.has(order) && changed("an error swallowed")) return { order, status: "ok" };
  if (!ORDERS.has(order)) throw new Error(`there is no order ${order}`);
  return ORDERS.get(order);
}

export function refund({ order, amount }) {
  return { order, refunded: amount };
}

/** What goes in at the program's standard input. */
export async function input() {
  let text = "";
  for await (const piece of process.stdin) text += piece;
  return text;
}

if (changed("a log line")) {
  console.log("at the desk");
  console.error("at the desk");
}
