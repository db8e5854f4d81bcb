/** Which values are kept, and how they are given back. */
import { isDeepStrictEqual } from "node:util";

/** What JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A value that JSON would change, with the reason. */
export class Unkept extends Error {}

/** Deeper values are refused by the reader at the other end. */
const DEEPEST = 100;
/** How `undefined` is written, which JSON has not. */
const UNDEFINED = "$undefined";
/** The last item of a generator that was left before its end: what would have come next is not known. */
export const LEFT = "$left";

/** Whether it is an object as JSON makes them, of whichever realm. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The text with what no UTF-8 can hold replaced. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** A name for the kind of a value, for messages. */
function named(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value === "number" ? String(value) : `a ${typeof value}`;
  const made: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof made === "string" && made !== "" ? `a ${made}` : "an object";
}

/**
 * A copy of the value as JSON.
 *
 * @param loose - takes bytes, big integers and what has `toJSON` (dates, addresses) as JSON writes them. Such a value
 * is told, and can not be given back.
 * @throws {@link Unkept} where JSON would say something else.
 */
export function copied(value: unknown, loose: boolean, path = "", above: readonly unknown[] = []): Json {
  const refused = (what: string): never => {
    throw new Unkept(path === "" ? what : `${what} at ${path}`);
  };
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : refused(named(value));
  if (typeof value === "string") return /\p{Surrogate}/u.test(value) ? refused("a string that is no Unicode") : value;
  if (loose && typeof value === "bigint") return String(value);
  if (typeof value !== "object") return refused(named(value));
  if (above.includes(value)) return refused("a circle");
  if (above.length >= DEEPEST) return refused(`more than ${DEEPEST} levels`);
  const inside = [...above, value];
  if (Array.isArray(value)) {
    // A hole, and what a match of a regular expression has beside its items.
    if (Object.keys(value).length !== value.length) return refused("an array that is no list");
    return value.map((item, index) => copied(item, loose, `${path}[${index}]`, inside));
  }
  if (loose && ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  }
  if (loose && "toJSON" in value && typeof value.toJSON === "function") {
    return copied((value.toJSON as (key: string) => unknown)(""), loose, path, inside);
  }
  if (!isPlain(value) || Object.getOwnPropertySymbols(value).length > 0) return refused(named(value));
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  if (Object.hasOwn(value, UNDEFINED) || Object.hasOwn(value, LEFT)) return refused(`a key ${UNDEFINED} or ${LEFT}`);
  // Not by assignment, to which the key `__proto__` means something.
  return Object.fromEntries(
    pairs.map(([key, item]) => {
      if (/\p{Surrogate}/u.test(key)) refused("a key that is no Unicode");
      return [key, copied(item, loose, path === "" ? key : `${path}.${key}`, inside)];
    }),
  );
}

/** Those of the pairs whose value JSON can say. */
export function told(pairs: [string, unknown][], loose: boolean): { [key: string]: Json } {
  const kept = pairs.flatMap(([key, value]): [string, Json][] => {
    try {
      return [[key, copied(value, loose)]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(kept);
}

/** How the values of a tool become JSON, and values again. */
export type Codec = { encode?: (value: never) => unknown; decode?: (json: never) => unknown };

/**
 * The value as JSON from which {@link given} makes it again.
 *
 * @throws {@link Unkept}, or what `encode` and `decode` throw.
 */
export function kept(value: unknown, { encode, decode }: Codec): Json {
  if (value === undefined) return { [UNDEFINED]: true };
  if (!encode && !decode) return copied(value, false);
  const encoded = (from: unknown): Json => copied(encode ? encode(from as never) : from, true);
  const first = encoded(value);
  const back = decode ? decode(copied(first, false) as never) : first;
  const shape = (of: unknown): unknown => (typeof of === "object" && of !== null ? Object.getPrototypeOf(of) : typeof of);
  if (shape(back) !== shape(value)) throw new Unkept(`${named(value)} that is decoded as ${named(back)}`);
  if (!isDeepStrictEqual(encoded(back), first)) throw new Unkept(`${named(value)} that is decoded as another one`);
  return first;
}

/** The value that was kept as this JSON. Of one that was not kept, only what the model was `told` is known: a text. */
export function given(json: Json, { decode }: Codec, told = false): unknown {
  if (isPlain(json) && Object.hasOwn(json, UNDEFINED)) return undefined;
  if (!decode) return json;
  try {
    if (told && typeof json === "string") return decode(JSON.parse(json) as never);
  } catch {
    // It is the value as it stands.
  }
  return decode(json as never);
}
