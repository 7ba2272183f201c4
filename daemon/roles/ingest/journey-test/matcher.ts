// Matchers of a value in the body of a response, and how they describe a mismatch.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { type JsonValue, keyPath, readKeyPath, splitPath } from './key-path.ts'

export const matcherFields = {
  equals: z.json().optional(),
  not_equals: z.json().optional().meta({ description: 'Holds without a value too' }),
  exists: z.boolean().optional().meta({ description: 'Whether there is a value; null is one' }),
  contains: z.json().optional().meta({ description: 'A part of a text, or an element of a list' }),
  matches: requiredText(256)
    .optional()
    .meta({ description: 'The whole of a text, in which * stands for any characters and ? for one' }),
  count: z.int().min(0).optional().meta({ description: 'Elements of a list, or members of an object' }),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
}

/** A path, and the matchers that hold together for the value there. */
export const valueTest = z.strictObject({ path: keyPath, ...matcherFields })
export type ResponseTest = z.output<typeof valueTest>

const names = Object.keys(matcherFields) as (keyof typeof matcherFields)[]

export function hasMatcher(test: Omit<ResponseTest, 'path'>): boolean {
  return names.some((name) => test[name] !== undefined)
}

export const no_matcher = `must have a matcher: ${names.join(', ')}`

export type Mismatch = { readonly path: string; readonly expected: string; readonly found: string }

type Matcher = (found: JsonValue | undefined, expected: JsonValue) => boolean

const matchers: Readonly<Record<(typeof names)[number], Matcher>> = {
  equals: isSame,
  not_equals: (found, expected) => !isSame(found, expected),
  exists: (found, expected) => (found !== undefined) === expected,
  contains: (found, expected) => {
    if (typeof found === 'string') return typeof expected === 'string' && found.includes(expected)
    return Array.isArray(found) && found.some((element) => isSame(element, expected))
  },
  matches: (found, expected) => typeof found === 'string' && matchesPattern(found, String(expected)),
  count: (found, expected) => countOf(found) === expected,
  at_least: (found, expected) => typeof found === 'number' && found >= Number(expected),
  at_most: (found, expected) => typeof found === 'number' && found <= Number(expected),
}

/** The first matcher that does not hold; undefined where all do. */
export function findMismatch(body: JsonValue | undefined, test: ResponseTest): Mismatch | undefined {
  const { path } = test
  const found = body === undefined ? undefined : readKeyPath(body, path)
  for (const name of names) {
    const expected = test[name] as JsonValue | undefined
    if (expected === undefined || matchers[name](found, expected)) continue
    const shown = name === 'count' ? describeCount(found) : showValue(path, found)
    return { path, expected: `${name} ${showValue(path, expected)}`, found: shown }
  }
  return undefined
}

function isSame(one: JsonValue | undefined, other: JsonValue): boolean {
  return one !== undefined && canonicalJson(one) === canonicalJson(other)
}

function countOf(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

function describeCount(found: JsonValue | undefined): string {
  const count = countOf(found)
  return count === undefined ? 'no list and no object' : `${count}`
}

const shown_characters = 200
/** Names of members whose values are credentials: no log has those. */
const credentialName = /token|secret|passw|credential|authorization|api_?key|private_?key/i

/** A value for a log, shortened; that of a credential is left out. */
export function showValue(path: string, value: JsonValue | undefined): string {
  if (value === undefined) return 'no value'
  if (splitPath(path).some((part) => credentialName.test(part))) return 'a value that is not shown'
  const text = JSON.stringify(value, (name, member) => (credentialName.test(name) ? '(not shown)' : member))
  return text.length <= shown_characters ? text : `${text.slice(0, shown_characters).toWellFormed()}…`
}

/** In time of the product of both lengths: each star is tried at the end of the one before alone. */
export function matchesPattern(text: string, pattern: string): boolean {
  let [at, next, star, resume] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next++
      resume = at
    } else if (pattern[next] === '?' || pattern[next] === text[at]) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[next] === '*') next++
  return next === pattern.length
}
