// JSON texts that no field should choke on, by the type that its schema declares.

const nest = (open: string, inner: string, close: string, levels: number) =>
  `${open.repeat(levels)}${inner}${close.repeat(levels)}`

const texts: readonly string[] = [
  '""',
  '" "',
  '"\\u00a0\\u3000"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u202e\\u200b\\ufeff"',
  '"\\u001b[2J"',
  '"\\r\\nSet-Cookie: x=1"',
  '"../../../../keys"',
  '"__proto__"',
  '"constructor"',
  '"\'; DROP TABLE session; --"',
  '"$(id)`id`"',
  '"*"',
  '"%00%2f"',
  `"${'x'.repeat(70_000)}"`,
  `"${'\u{1f600}'.repeat(2_000)}"`,
  `"(${'a+'.repeat(200)})+$"`,
]

const numbers: readonly string[] = [
  '1e999',
  '-1e999',
  '1e-400',
  '-0',
  '9007199254740993',
  '-1',
  '0.1',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(4_000)}`,
  'NaN',
  'Infinity',
  '01',
  '0x10',
  '1_000',
]

const lists: readonly string[] = [
  '[]',
  '[null]',
  '[[]]',
  `[${'0,'.repeat(20_000)}0]`,
  `[${'"x",'.repeat(20_000)}"x"]`,
  nest('[', '', ']', 60),
  nest('[', '', ']', 400_000),
  '[1,]',
]

const objects: readonly string[] = [
  '{}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"toString":1,"valueOf":1,"then":1}',
  '{"":""}',
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  nest('{"a":', '1', '}', 60),
  `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
]

const others: readonly string[] = ['null', 'true', '"text"', '1', '[]', '{}']

/** The texts for a field of this type, and some of each other type. */
export function listHostileTexts({ type }: Readonly<Record<string, unknown>>): readonly string[] {
  const own: Readonly<Record<string, readonly string[]>> = {
    string: texts,
    integer: numbers,
    number: numbers,
    array: lists,
    object: objects,
    boolean: [],
  }
  return [...new Set([...(own[String(type)] ?? [...texts, ...objects]), ...others])]
}

/** For a parameter of the path or the query, percent-encoded as a hostile client does it. */
export const hostileParameters: readonly string[] = [
  '%2e%2e%2f%2e%2e%2fkeys',
  '..%2f..%2fkeys',
  '%2f',
  '%5c',
  '%00',
  '%ff',
  '%ed%a0%80',
  '%25%32%66',
  '%u002f',
  '%',
  '%zz',
  '*',
  '%2a',
  '%0d%0aSet-Cookie:%20x=1',
  '%1b%5b2J',
  '%e2%80%ae',
  '__proto__',
  'constructor',
  'a'.repeat(5_000),
  "'%20OR%201=1",
  '1e999',
  '-1',
  'NaN',
]
