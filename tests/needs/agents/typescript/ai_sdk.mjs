// The order desk by the AI SDK, which calls the tools by itself.
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { asked, changed, getOrder, refund } from "./orders.mjs";

const order = z.coerce.number().int();
const tools = {
  get_order: tool({ description: "Looks an order up.", inputSchema: z.object({ order }), execute: getOrder }),
  refund: tool({
    description: "Pays an order back.",
    inputSchema: z.object({ order, amount: z.string() }),
    execute: (args, options) =>
      changed("a call left out") ? "Order 7 is paid back: 18.00 EUR." : refund(asked(args), options),
  }),
};
const prompt = process.env.MCPTEST_PROMPT;
console.log((await generateText({ model: openai("gpt-5"), prompt, tools, stopWhen: stepCountIs(9) })).text);
