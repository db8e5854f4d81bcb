/** Which values are kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { copied, given, kept, Unkept, wellFormed } from "../dist/values.js";

test("plain JSON is given back as it was", () => {
  const nested = JSON.parse(`${"[".repeat(99)}1${"]".repeat(99)}`) as unknown;
  const values = [null, true, 0, -1.5, 5e-324, 1.7976931348623157e308, "", "naïve 🖋 \u0000 \u2028", [], [[]], {}, { a: [1, { b: null }] }, undefined, nested];
  values.push(JSON.parse('{"__proto__":{"a":1},"constructor":2,"toJSON":3}'), Object.assign(Object.create(null) as object, { a: 1 }));
  values.push(runInNewContext("({ a: [1] })"));
  for (const value of values) {
    const back = given(JSON.parse(JSON.stringify(kept(value, {}))), {});
    assert.equal(JSON.stringify(back), JSON.stringify(value));
    assert.equal(typeof back, typeof value);
  }
});

test("a property that is undefined is none", () => assert.deepEqual(kept({ a: undefined, b: 1 }, {}), { b: 1 }));

test("what JSON would change is not kept, and the reason says where it is", () => {
  class Money {
    constructor(readonly cents = 1800) {}
  }
  const circle: unknown[] = [];
  circle.push({ circle });
  const sparse: unknown[] = [];
  sparse[3] = 1;
  const cases: [unknown, string][] = [
    [NaN, "NaN"],
    [{ a: Infinity }, "Infinity at a"],
    [7n, "a bigint"],
    [Symbol("a"), "a symbol"],
    [() => 1, "a function"],
    [{ a: { b: [1, () => 1] } }, "a function at a.b[1]"],
    [[undefined], "a undefined at [0]"],
    [new Date(0), "a Date"],
    [{ when: new Date(0) }, "a Date at when"],
    [new Map(), "a Map"],
    [new Set(), "a Set"],
    [/a/, "a RegExp"],
    [new Error("a"), "a Error"],
    [Buffer.from("a"), "a Buffer"],
    [new Uint8Array(2), "a Uint8Array"],
    [new Money(), "a Money"],
    [Promise.resolve(), "a Promise"],
    [new (class {})(), "an object"],
    [Object.create({ inherited: 1 }), "a Object"],
    [{ [Symbol("a")]: 1 }, "a Object"],
    ["\ud800", "a string that is no Unicode"],
    [{ "\ud800": 1 }, "a key that is no Unicode"],
    ["ab".match(/a/), "an array that is no list"],
    [sparse, "an array that is no list"],
    [circle, "a circle at [0].circle"],
    [JSON.parse(`${"[".repeat(101)}${"]".repeat(101)}`), `more than 100 levels at ${"[0]".repeat(100)}`],
    [{ $undefined: true }, "a key $undefined or $left"],
    [{ $left: true }, "a key $undefined or $left"],
    [new Proxy(new Money(), {}), "a Money"],
  ];
  for (const [value, reason] of cases) {
    assert.throws(
      () => kept(value, {}),
      (thrown) => thrown instanceof Unkept && thrown.message === reason,
      reason,
    );
  }
});

test("encode and decode keep what JSON cannot", () => {
  const dates = { encode: (date: Date) => date.toISOString(), decode: (text: string) => new Date(text) };
  const json = kept(new Date(0), dates);
  assert.equal(json, "1970-01-01T00:00:00.000Z");
  assert.deepEqual(given(json, dates), new Date(0));
  // What has a form of JSON's own needs only the way back.
  assert.equal(kept(new Date(0), { decode: dates.decode }), json);
  const map = { encode: (of: Map<string, number>) => [...of], decode: (pairs: [string, number][]) => new Map(pairs) };
  assert.deepEqual(given(kept(new Map([["a", 1]]), map), map), new Map([["a", 1]]));
  // A function that sometimes gives nothing.
  assert.equal(given(kept(undefined, dates), dates), undefined);
});

test("what the model was told is decoded as the JSON that it is", () => {
  const dates = { decode: (json: string | { when: string }) => new Date(typeof json === "string" ? json : json.when) };
  assert.deepEqual(given('{"when":"1970-01-01"}', dates, true), new Date(0));
  assert.deepEqual(given("1970-01-01", dates, true), new Date(0));
  assert.equal(given('{"when":"1970-01-01"}', {}, true), '{"when":"1970-01-01"}');
});

test("a pair of encode and decode that loses something is found out", () => {
  const wrong = [
    { encode: (date: Date) => date.toISOString() },
    { encode: (date: Date) => date.toISOString().slice(0, 10), decode: (text: string) => text },
    { encode: (date: Date) => date.getTime(), decode: () => new Date(1) },
    { decode: (text: string) => ({ text }) },
    {
      encode: () => {
        throw new Error("no");
      },
    },
  ];
  for (const codec of wrong) assert.throws(() => kept(new Date(0), codec));
  // `decode` may change what it is given, and what is kept stays.
  const list = { encode: (of: { items: number[] }) => of.items, decode: (items: number[]) => ({ items: items.splice(0) }) };
  assert.deepEqual(kept({ items: [1, 2] }, list), [1, 2]);
});

test("arguments are told also where they could not be given back", () => {
  const told = { when: new Date(0), at: new URL("http://a/"), bytes: new Uint8Array([1, 2]), big: 2n ** 70n };
  assert.deepEqual(copied(told, true), {
    when: "1970-01-01T00:00:00.000Z",
    at: "http://a/",
    bytes: "AQI=",
    big: "1180591620717411303424",
  });
  assert.throws(() => copied(new Map(), true));
  assert.throws(() => copied({ toJSON: () => Infinity }, true));
});

test("what was kept does not change with the value", () => {
  const value = { items: [1] };
  const json = kept(value, {});
  value.items.push(2);
  assert.deepEqual(json, { items: [1] });
});

test("text that no UTF-8 holds is replaced", () => assert.equal(wellFormed("a\ud800b🖋\udfff"), "a\ufffdb🖋\ufffd"));
