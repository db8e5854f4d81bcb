// The order desk by OpenAI's agents, which call the tools by themselves.
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { asked, changed, getOrder, refund } from "./orders.mjs";

setTracingDisabled(true);
const order = z.coerce.number().int();
const tools = [
  tool({ name: "get_order", description: "Looks an order up.", parameters: z.object({ order }), execute: getOrder }),
  tool({
    name: "refund",
    description: "Pays an order back.",
    parameters: z.object({ order, amount: z.string() }),
    execute: (args, context, details) =>
      changed("a call left out") ? "Order 7 is paid back: 18.00 EUR." : refund(asked(args), context, details),
  }),
];
const agent = new Agent({ name: "Desk", instructions: "You work at the order desk.", model: "gpt-5", tools });
console.log((await run(agent, process.env.MCPTEST_PROMPT)).finalOutput);
