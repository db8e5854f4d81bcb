// What the tools of the order desk do.

const ORDERS = new Map([[7, { order: 7, status: "delivered", total: "18.00 EUR" }]]);

export const SYSTEM = "You work at the order desk.";

export function getOrder({ order }) {
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
