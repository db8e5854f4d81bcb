// The order desk by the AI SDK; it calls the tools by itself.
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { MOST, RUNS, SYSTEM, changed, getOrder, input, refund } from "./orders.mjs";

const request = {
  model: openai("gpt-5"),
  system: SYSTEM,
  prompt: await input(),
  stopWhen: stepCountIs(MOST),
  tools: {
    get_order: tool({
      description: "Looks an order up.",
      inputSchema: z.object({ order: z.number().int() }),
      execute: getOrder,
    }),
    refund: tool({
      description: "Pays an order back.",
      inputSchema: z.object({ order: z.number().int(), amount: z.string() }),
      execute: refund,
    }),
  },
};
if (changed("a tool removed")) delete request.tools.refund;
for (let run = 0; run < RUNS; run += 1) {
  if (process.argv.includes("--stream")) {
    for await (const words of streamText(request).textStream) process.stdout.write(words);
    console.log();
  } else {
    console.log((await generateText(request)).text);
  }
}
