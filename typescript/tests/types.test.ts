/** The types stay: this file is compiled. */
import { test } from "node:test";

import { tool } from "mcptest-harness";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Same<A, B>): void {}

interface Order {
  order: number;
  reason?: string;
}

async function refund({ order }: Order): Promise<{ refunded: number }> {
  return { refunded: order };
}
function* count(to: number): Generator<number, void, undefined> {
  for (let at = 0; at < to; at += 1) yield at;
}
function first<T>(items: T[]): T | undefined {
  return items[0];
}
function over(value: string): string;
function over(value: number): number;
function over(value: string | number): string | number {
  return value;
}

test("the function keeps its type", () => {
  const own = tool("refund", refund);
  same<typeof own, typeof refund>(true);
  const counted = tool("count", count, { params: ["to"] });
  same<typeof counted, typeof count>(true);
  const firstOf = tool("first", first, { params: ["items"] });
  const found: string | undefined = firstOf(["a"]);
  const overloaded = tool("over", over, { params: ["value"] });
  const number: number = overloaded(7);
  void [found, number];
});

test("encode and decode are those of what it gives", () => {
  const dated = tool("when", async (_: Order) => new Date(), { encode: (date) => date.toISOString(), decode: (text: string) => new Date(text) });
  same<ReturnType<typeof dated>, Promise<Date>>(true);
  tool("count", count, { encode: (item) => item.toFixed(), decode: (text: string) => Number(text) });
  // @ts-expect-error: the function gives dates.
  tool("when", async () => new Date(), { encode: (date: string) => date });
  // @ts-expect-error: the function gives dates.
  tool("when", async () => new Date(), { decode: (text: string) => text });
});
