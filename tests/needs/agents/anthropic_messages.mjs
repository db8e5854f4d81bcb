// The order desk over Anthropic's Messages; the client calls the tools by itself.
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";
import { SYSTEM, getOrder, input, refund } from "./orders.mjs";

const client = new Anthropic();
const stream = process.argv.includes("--stream");
const runner = client.beta.messages.toolRunner({
  model: "claude-sonnet-4-5",
  max_tokens: 500,
  stream,
  system: SYSTEM,
  messages: [{ role: "user", content: await input() }],
  tools: [
    betaZodTool({
      name: "get_order",
      description: "Looks an order up.",
      inputSchema: z.object({ order: z.number().int() }),
      run: (args) => JSON.stringify(getOrder(args)),
    }),
    betaZodTool({
      name: "refund",
      description: "Pays an order back.",
      inputSchema: z.object({ order: z.number().int(), amount: z.string() }),
      run: (args) => JSON.stringify(refund(args)),
    }),
  ],
});
if (stream) {
  for await (const answer of runner) {
    answer.on("text", (words) => process.stdout.write(words));
    await answer.finalMessage();
  }
}
const last = await runner.runUntilDone();
console.log(last.content.map((block) => block.text ?? "").join(""));
