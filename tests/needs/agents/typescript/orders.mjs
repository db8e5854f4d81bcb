// The tools of the order desk. What they do is seen in a file: a line each time one runs. Tests change the code by
// `AGENT_CHANGE`.
import { appendFileSync } from "node:fs";
import { tool } from "mcptest-harness";

export const changed = (name) => process.env.AGENT_CHANGE === name;

const ran = (what) => appendFileSync(process.env.EFFECTS, `${what}\n`);

class NoOrder extends Error {}

export const getOrder = tool(
  "get_order",
  async ({ order }) => {
    ran(`get_order ${order}`);
    if (order !== 7) throw new NoOrder(`there is no order ${order}`);
    return { total: "18.00 EUR", order, status: "delivered" };
  },
  { errors: [NoOrder] },
);

/** It does not wait, and asks for another tool by itself. */
const pay = tool("pay", ({ amount }) => ran(`pay ${amount}`));

export const refund = tool("refund", ({ order, amount }) => {
  ran(`refund ${order}`);
  pay({ amount });
  return `Order ${order} is paid back: ${amount}.`;
});

/** What the code makes of the model's arguments. */
export function asked({ order, amount }) {
  return { order: changed("an argument changed") ? order + 1 : order, amount };
}
