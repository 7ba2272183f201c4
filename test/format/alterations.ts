// Alterations of signed documents: of their text, of their JSON, and of what is signed, under a new signature.
import { canonicalJson } from '../../daemon/kernel/encoding/canonical-json.ts'
import type { JsonMembers } from './signed-documents.ts'

/** Seeded whole numbers below `limit`. */
export type Random = (limit: number) => number

/** The generator mulberry32 of T. Ettinger: 32 bits of state, enough to vary a test. */
export function seedRandom(seed: number): Random {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

export type TextAlteration = {
  readonly name: string
  readonly alter: (text: string, random: Random) => string | Buffer
}

/** Of a file, whose signatures stay. */
export const fileAlterations: readonly TextAlteration[] = [
  { name: 'byte flipped', alter: flipByte },
  { name: 'another byte flipped', alter: flipByte },
  { name: 'cut', alter: (text, random) => text.slice(0, random(text.length)) },
  { name: 'something behind it', alter: (text) => `${text}x` },
  { name: 'white space behind it', alter: (text) => `${text}\n ` },
  { name: 'byte order mark', alter: (text) => `\ufeff${text}` },
  { name: 'not UTF-8', alter: (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xc3, 0x28])]) },
  { name: 'twice', alter: (text) => text + text },
]

/** Of JSON as text, of a file or of signed bytes: other spellings, some of the same value. */
export const spellingAlterations: readonly TextAlteration[] = [
  { name: 'space before a member', alter: (text) => text.replace('{', '{ ') },
  { name: 'member repeated', alter: repeatMember },
  { name: 'member repeated with another value', alter: (text) => text.replace('{', '{"v":2,"payload":"","v":3,') },
  { name: 'name escaped', alter: (text) => text.replace(/"([a-z])/, (_, char) => `"\\u00${hex(char)}`) },
  {
    name: 'escaped repetition',
    alter: (text) =>
      text.replace(/\{"([a-z])([a-z_0-9]*)":/, (all, char, rest) => `${all}0,"\\u00${hex(char)}${rest}":`),
  },
  { name: '__proto__', alter: (text) => text.replace('{', '{"__proto__":{},') },
  { name: 'half a surrogate pair', alter: (text) => text.replace(/":"/, '":"\\ud800') },
  { name: 'surrogate pair escaped', alter: (text) => text.replace(/":"/, '":"\\ud83d\\ude00') },
  { name: 'number with a fraction', alter: (text) => text.replace(/:(\d+)([,}])/, ':$1.0$2') },
  { name: 'number with an exponent', alter: (text) => text.replace(/:(\d+)([,}])/, ':$1e0$2') },
  { name: 'number with a leading zero', alter: (text) => text.replace(/:(\d+)([,}])/, ':0$1$2') },
  { name: 'number below zero', alter: (text) => text.replace(/:(\d+)([,}])/, ':-$1$2') },
  { name: 'number out of range', alter: (text) => text.replace(/:(\d+)([,}])/, ':1e999$2') },
  { name: 'number beyond safe', alter: (text) => text.replace(/:(\d+)([,}])/, ':9007199254740993$2') },
  { name: 'NaN', alter: (text) => text.replace(/:(\d+)([,}])/, ':NaN$2') },
  { name: 'comma before the end', alter: (text) => text.replace(/\}$/, ',}') },
  { name: 'nested 20 levels', alter: (text) => text.replace(/:(\d+|"[^"]*")/, `:${'['.repeat(20)}${']'.repeat(20)}`) },
  { name: 'control character', alter: (text) => text.replace(/":"/, '":"\u0001') },
  { name: 'members reordered', alter: (text) => JSON.stringify(reverseMembers(JSON.parse(text))) },
  { name: 'printed with line ends', alter: (text) => JSON.stringify(JSON.parse(text), undefined, 2) },
]

const hex = (char: string) => char.charCodeAt(0).toString(16)

function flipByte(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text)
  const at = random(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(7))
  return bytes
}

function repeatMember(text: string): string {
  return text.replace(/^\{("[^"]+":(?:"[^"]*"|\d+))(.*)\}$/s, '{$1$2,$1}')
}

function reverseMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseMembers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reverseMembers(member)]),
  )
}

/** One member or item, found at random, is removed, added or replaced. */
export function alterValue(
  document: JsonMembers,
  random: Random,
): { readonly name: string; readonly value: JsonMembers } {
  const value = structuredClone(document)
  const places = listPlaces(value)
  const place = places[random(places.length)]
  if (!place) return { name: 'nothing', value }
  const { holder, key } = place
  const before = holder[key]
  const choices = replacements.filter(({ of }) => of(before))
  const { name, change } = choices[random(choices.length)] ?? { name: 'null', change: () => null }
  const after = change(before, random)
  if (after === removed && Array.isArray(holder)) holder.splice(Number(key), 1)
  else if (after === removed) delete holder[key]
  else holder[key] = after
  return { name: `${place.path} ${name}`, value }
}

type MemberLocation = { readonly holder: Record<string, unknown>; readonly key: string; readonly path: string }

function listPlaces(value: unknown, path = ''): MemberLocation[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [
    { holder, key, path: `${path}.${key}` },
    ...listPlaces(holder[key], `${path}.${key}`),
  ])
}

const removed = Symbol('removed')
const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown) => isText(value) && /^\d{4}-\d\d-\d\dT/.test(value)
const isList = (value: unknown) => Array.isArray(value)
const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const always = () => true

type Replacement = {
  readonly name: string
  readonly of: (value: unknown) => boolean
  readonly change: (value: unknown, random: Random) => unknown
}

const times = [
  ...['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.0009Z', '2026-03-01T12:00:00.001Z', '2026-03-01T12:00Z'],
  ...['2026-03-01T13:00:00+01:00', '2026-02-29T12:00:00Z', '2024-02-29T12:00:00Z', '2026-03-01T24:00:00Z'],
  ...[
    '2026-03-01T12:00:60Z',
    '2026-03-01t12:00:00z',
    '2026-03-01 12:00:00Z',
    '0000-01-01T00:00:00Z',
    '1900-02-29T00:00:00Z',
  ],
  ...['9999-12-31T23:59:59.999Z', '2025-12-31T23:59:59.999Z', '2026-03-01T12:00:00', '+002026-03-01T12:00:00Z', ''],
]

/** White space of ECMAScript, and what other readers take for it. */
const blanks = [' ', '\u00a0\u3000', '\ufeff', '\u0085', '\u001c']

const numbers = [
  0,
  1,
  2,
  -1,
  0.5,
  1.5,
  15,
  16,
  17,
  1_000,
  1_001,
  99_999_999,
  100_000_000,
  2 ** 53 - 1,
  2 ** 53,
  1e21,
  1e-7,
]

const replacements: readonly Replacement[] = [
  { name: 'removed', of: always, change: () => removed },
  { name: 'null', of: always, change: () => null },
  { name: 'another type', of: always, change: (value) => (isText(value) ? 1 : isRecord(value) ? [] : 'text') },
  { name: 'true', of: always, change: () => true },
  { name: 'character added', of: isText, change: (value) => `${String(value)}a` },
  { name: 'emptied', of: isText, change: () => '' },
  { name: 'blank', of: isText, change: (_, random) => blanks[random(blanks.length)] },
  { name: 'upper case', of: isText, change: (value) => String(value).toUpperCase() },
  { name: 'too long', of: isText, change: (value) => String(value).padEnd(300, 'x') },
  { name: 'space added', of: isText, change: (value) => `${String(value)} ` },
  { name: 'line end added', of: isText, change: (value) => `${String(value)}\n` },
  { name: 'character beyond ASCII', of: isText, change: (value) => `${String(value)}\u{1f600}` },
  { name: 'padding', of: isText, change: (value) => `${String(value)}=` },
  { name: 'character replaced', of: isText, change: replaceCharacter },
  { name: 'another time', of: isTime, change: (_, random) => times[random(times.length)] },
  { name: 'another time', of: isTime, change: (_, random) => times[random(times.length)] },
  {
    name: 'another number',
    of: (value) => typeof value === 'number',
    change: (_, random) => numbers[random(numbers.length)],
  },
  { name: 'nudged', of: (value) => typeof value === 'number', change: (value) => Number(value) + 1 },
  { name: 'emptied', of: isList, change: () => [] },
  {
    name: 'item repeated',
    of: isList,
    change: (value) => [...(value as unknown[]), ...(value as unknown[]).slice(-1)],
  },
  { name: 'reversed', of: isList, change: (value) => (value as unknown[]).toReversed() },
  { name: 'first item dropped', of: isList, change: (value) => (value as unknown[]).slice(1) },
  { name: 'member added', of: isRecord, change: (value) => ({ ...(value as object), added: 1 }) },
  { name: 'member added', of: isRecord, change: (value) => ({ ...(value as object), categories: [] }) },
  { name: 'emptied', of: isRecord, change: () => ({}) },
]

function replaceCharacter(value: unknown, random: Random): string {
  const text = String(value)
  const at = random(Math.max(1, text.length))
  return `${text.slice(0, at)}${'0aZ_-+/'[random(7)]}${text.slice(at + 1)}`
}

/** The canonical text of an altered value, or its altered spelling. */
export function alterText(document: JsonMembers, random: Random): { readonly name: string; readonly text: string } {
  if (random(3) === 0) {
    const { name, alter } = spellingAlterations[random(spellingAlterations.length)] ?? { name: '', alter: String }
    return { name, text: String(alter(canonicalJson(document), random)) }
  }
  const { name, value } = alterValue(document, random)
  return { name, text: canonicalJson(value) }
}
