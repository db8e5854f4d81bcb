/** Which errors are kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { tool } from "mcptest-harness";

import { failure, isControl, raised, ToolError, type Told } from "../dist/errors.js";
import { odd, thrownBy } from "./support/odd.js";

class CardDeclined extends Error {
  readonly code: number;
  constructor(order: number, code: number) {
    super(`order ${order}: the card is declined`);
    this.code = code;
    ran += 1;
  }
}
class Named extends Error {
  override name = "NotFound";
}
let ran = 0;

/** Told, over JSON, and raised again. */
function again(thrown: unknown, classes: (typeof CardDeclined | typeof Named)[] = []): unknown {
  return raised(JSON.parse(JSON.stringify(failure(thrown))) as Told, classes);
}

test("an error of the language is one again", () => {
  for (const thrown of [new Error("a"), new TypeError("b"), new RangeError(""), new SyntaxError("d")]) {
    const raised = again(thrown) as Error;
    assert.equal(Object.getPrototypeOf(raised), Object.getPrototypeOf(thrown));
    assert.equal(String(raised), String(thrown));
    assert.match(raised.stack ?? "", /errors\.test/);
  }
});

test("an error of a class that is named is one again, and its constructor does not run", () => {
  const thrown = new CardDeclined(7, 402);
  const before = ran;
  const raised = again(thrown, [CardDeclined]) as CardDeclined;
  assert.ok(raised instanceof CardDeclined);
  assert.deepEqual([raised.message, raised.code, raised.name], [thrown.message, 402, "Error"]);
  assert.equal(ran, before);
  const named = again(new Named("order 7"), [Named]) as Named;
  assert.ok(named instanceof Named);
  assert.equal(String(named), "NotFound: order 7");
});

test("an error of a class that is not loaded has its name and its text", () => {
  for (const [thrown, name] of [
    [new CardDeclined(7, 402), "Error"],
    [new Named("order 7"), "NotFound"],
  ] as const) {
    const raised = again(thrown) as Error;
    assert.ok(raised instanceof ToolError);
    assert.deepEqual([raised.name, raised.message], [name, thrown.message]);
  }
  const changed = again(Object.assign(new Error("order 7"), { name: "Changed" })) as Error;
  assert.ok(!(changed instanceof ToolError));
  assert.equal(String(changed), "Changed: order 7");
  const stopped = again(new DOMException("stopped", "AbortError")) as DOMException;
  assert.ok(stopped instanceof DOMException);
  assert.deepEqual([stopped.name, stopped.message, stopped.code], ["AbortError", "stopped", 20]);
  const ofPython = raised({ type: "CardDeclined", module: "shop.errors", text: "declined" }, []) as Error & { module?: string };
  assert.ok(ofPython instanceof ToolError);
  assert.deepEqual([ofPython.name, ofPython.module, ofPython.message], ["CardDeclined", "shop.errors", "declined"]);
});

test("the type is the name of the class where the error has none of its own", () => {
  assert.deepEqual(failure(new CardDeclined(7, 402)), {
    type: "CardDeclined",
    text: "order 7: the card is declined",
    args: [{ code: 402, name: "Error" }],
  });
  assert.deepEqual(failure(new Named("a")), { type: "NotFound", text: "a", args: [{ $class: "Named" }] });
  assert.deepEqual(failure(new (class extends Error {})("a")), { type: "Error", text: "a", args: [{ $class: "" }] });
  assert.equal(failure(runInNewContext("new TypeError('a')")).type, "TypeError");
});

test("a time-out of the suite is an error of that name", () => {
  const late = raised({ type: "TimeoutError", module: "builtins", text: "late" }, []) as Error;
  assert.ok(!(late instanceof ToolError));
  assert.equal(String(late), "TimeoutError: late");
});

test("a recording that names something else runs nothing", () => {
  const names = ["eval", "Function", "Promise", "Proxy", "process", "process.exit", "subprocess.getoutput", "constructor"];
  names.push("__proto__", "toString", "hasOwnProperty", "require", "globalThis", "Symbol", "child_process", "");
  for (const type of names) {
    const thrown = raised({ type, text: "touch effects", args: ["touch effects"] }, []);
    assert.ok(thrown instanceof ToolError, type);
    assert.deepEqual([thrown.name, thrown.message], [type, "touch effects"]);
  }
  const planted = JSON.parse('{"type":"Error","text":"a","args":[{"__proto__":{"a":1},"stack":"x","message":"y","code":3}]}') as Told;
  const thrown = raised(planted, []) as Error & { code?: number; a?: number };
  assert.deepEqual([thrown.message, thrown.code, thrown.a], ["a", 3, undefined]);
  assert.equal(Object.getPrototypeOf(thrown), Error.prototype);
  assert.notEqual(thrown.stack, "x");
});

test("what is thrown without being an error is thrown again", () => {
  for (const value of ["declined", 402, null, { code: 402 }]) assert.deepEqual(again(value), value);
  assert.ok(again(undefined) instanceof ToolError);
  assert.ok(again(new Map()) instanceof ToolError);
});

test("an error that cannot even be read goes on as it is", async () => {
  const thrown = Object.defineProperty(new Error("no"), "code", {
    get: () => {
      throw new RangeError("not now");
    },
    enumerable: true,
  });
  const asked = await odd([{ body: '{"run":"t1"}' }, { body: "{}" }], async () => {
    const failing = tool("fail", async () => {
      throw thrown;
    });
    assert.equal(await thrownBy(failing), thrown);
  });
  assert.match(String(asked[1]?.body["unkept"]), /not now/);
});

test("control flow is known by class and by name", () => {
  class GraphBubbleUp extends Error {}
  class GraphInterrupt extends GraphBubbleUp {}
  class Paused extends Error {}
  assert.ok(isControl(new GraphInterrupt(), []));
  assert.ok(isControl(new Paused(), [Paused]));
  assert.ok(isControl(new Paused(), ["Paused"]));
  assert.ok(isControl(Object.assign(new Error("a"), { name: "Paused" }), ["Paused"]));
  assert.ok(!isControl(new Paused(), [Named, "Other"]));
  assert.ok(!isControl("Paused", ["Paused"]));
});
