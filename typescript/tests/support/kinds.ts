/** One tool in each of the kinds of functions, counting how often its body runs. */
import { tool, type ToolOptions } from "mcptest-harness";

export interface Kind {
  kind: string;
  /** Calls the tool, and takes all it gives. */
  call(order: number): unknown;
  runs(): number;
}

/** The tool `refund` in four kinds; its generators give one item. */
export function kinds(body: (order: number) => unknown = (order) => ({ refunded: order }), options: object = {}): Kind[] {
  const ran = (kind: string, order: number): unknown => {
    count.set(kind, (count.get(kind) ?? 0) + 1);
    return body(order);
  };
  const count = new Map<string, number>();
  const now = tool("refund", ({ order }: { order: number }) => ran("function", order), options as ToolOptions);
  const later = tool("refund", async ({ order }: { order: number }) => ran("async function", order), options as ToolOptions);
  const items = tool(
    "refund",
    function* ({ order }: { order: number }) {
      yield ran("generator", order);
    },
    options as ToolOptions,
  );
  const itemsLater = tool(
    "refund",
    async function* ({ order }: { order: number }) {
      yield ran("async generator", order);
    },
    options as ToolOptions,
  );
  const counted = (kind: string, call: (order: number) => unknown): Kind => {
    return { kind, call, runs: () => count.get(kind) ?? 0 };
  };
  return [
    counted("function", (order) => now({ order })),
    counted("async function", (order) => later({ order })),
    counted("generator", (order) => [...(items({ order }) as Iterable<unknown>)]),
    counted("async generator", async (order) => {
      const all: unknown[] = [];
      for await (const item of itemsLater({ order }) as AsyncIterable<unknown>) all.push(item);
      return all;
    }),
  ];
}
