// The order desk over Anthropic's Messages; the client calls the tools by itself.
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";
import { MOST, RUNS, SYSTEM, changed, getOrder, input, refund } from "./orders.mjs";

const client = new Anthropic();
const stream = process.argv.includes("--stream");
const tools = [
  betaZodTool({
    name: "get_order",
    description: "Looks an order up.",
    inputSchema: z.object({ order: z.number().int() }),
    run: async (args) => JSON.stringify(await getOrder(args)),
  }),
  betaZodTool({
    name: "refund",
    description: "Pays an order back.",
    inputSchema: z.object({ order: z.number().int(), amount: z.string() }),
    run: (args) => JSON.stringify(refund(args)),
  }),
];
if (changed("a tool removed")) tools.pop();
const prompt = await input();
for (let run = 0; run < RUNS; run += 1) {
  const runner = client.beta.messages.toolRunner({
    model: "claude-sonnet-4-5",
    max_tokens: 500,
    max_iterations: MOST,
    stream,
    system: SYSTEM,
    messages: [{ role: "user", content: prompt }],
    tools,
  });
  if (stream) {
    for await (const answer of runner) {
      answer.on("text", (words) => process.stdout.write(words));
      await answer.finalMessage();
    }
  }
  const last = await runner.runUntilDone();
  console.log(last.content.map((block) => block.text ?? "").join(""));
}
