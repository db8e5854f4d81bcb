// The order desk over OpenAI's Chat Completions; the client calls the tools by itself.
import OpenAI from "openai";
import { MOST, RUNS, SYSTEM, changed, getOrder, refund } from "./orders.mjs";

const client = new OpenAI();
const stream = process.argv.includes("--stream");
const tool = (name, description, run, properties) => ({
  type: "function",
  function: {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties) },
    parse: JSON.parse,
    // A tool that throws would end the runner.
    function: async (args) => {
      try {
        return await run(args);
      } catch (error) {
        return `Error: ${error.message}`;
      }
    },
  },
});
const tools = [
  tool("get_order", "Looks an order up.", getOrder, { order: { type: "integer" } }),
  tool("refund", "Pays an order back.", refund, { order: { type: "integer" }, amount: { type: "string" } }),
];
if (changed("a tool removed")) tools.pop();
for (let run = 0; run < RUNS; run += 1) {
  const runner = client.chat.completions.runTools(
    {
      model: "gpt-5",
      stream,
      messages: [
        { role: "system", content: SYSTEM },
        { role: "user", content: process.env.MCPTEST_PROMPT },
      ],
      tools,
    },
    { maxChatCompletions: MOST },
  );
  if (stream) runner.on("content", (words) => process.stdout.write(words));
  await runner.done();
  console.log(runner.messages.at(-1).content);
}
