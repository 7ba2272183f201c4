// Parses JSON strictly: refuses text that two parsers could read differently, and reports incomplete text separately.
import { runToEnd } from '../role/run-to-end.ts'
import type { JsonLimits } from './json-limits.ts'
import { type JsonFlaw, scanJson } from './json-scan.ts'

/** `incomplete`: more bytes could complete the value. `number_path`: of a number beyond the range of a double. */
export type StrictJson =
  | { readonly outcome: 'value'; readonly value: unknown }
  | { readonly outcome: 'incomplete' }
  | Exclude<JsonFlaw, 'incomplete'>

/**
 * Accepts what `JSON.parse` accepts of text or of its UTF-8 bytes, except: a repeated key, a key `__proto__`, half a surrogate
 * pair, a number beyond the range of a double, and what exceeds the limits.
 */
export function readStrictJson(json: string | Uint8Array, limits: JsonLimits): StrictJson {
  return runToEnd(strictJsonReading(json, limits))
}

/** The same as a computation for `runInSlices`: limits are checked before anything is parsed. */
export function* strictJsonReading(
  json: string | Uint8Array,
  limits: JsonLimits,
): Generator<undefined, StrictJson, undefined> {
  const text = typeof json === 'string' ? json : decodeUtf8(json)
  if (text === undefined && typeof json !== 'string') return yield* readCutText(json, limits)
  if (!text?.isWellFormed()) return notUtf8
  yield
  const flaw = yield* scanJson(text, limits)
  if (flaw === 'incomplete') return { outcome: 'incomplete' }
  if (flaw) return flaw
  yield
  try {
    return { outcome: 'value', value: JSON.parse(text) as unknown }
  } catch {
    return { outcome: 'BAD_JSON', detail: 'not JSON' }
  }
}

/** The value of strict JSON, or undefined for anything else. */
export function parseStrictJson(json: string | Uint8Array, limits: JsonLimits): unknown {
  const read = readStrictJson(json, limits)
  return read.outcome === 'value' ? read.value : undefined
}

const notUtf8: StrictJson = { outcome: 'BAD_JSON', detail: 'not UTF-8' }
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes that are not UTF-8: incomplete when they only end inside a character, as a file does that is still being written. */
function* readCutText(bytes: Uint8Array, limits: JsonLimits): Generator<undefined, StrictJson, undefined> {
  const text = decodeWithoutCutCharacter(bytes)
  const flaw = text === undefined ? undefined : yield* scanJson(text, limits)
  if (flaw === 'incomplete') return { outcome: 'incomplete' }
  return flaw ?? notUtf8
}

/** At most three bytes of the character at the end are there. */
function decodeWithoutCutCharacter(bytes: Uint8Array): string | undefined {
  for (let cut = 1; cut <= Math.min(3, bytes.length); cut++) {
    const last = bytes[bytes.length - cut] ?? 0
    if (last < 0x80) return undefined
    if (last < 0xc0) continue
    const wanted = last >= 0xf0 ? 4 : last >= 0xe0 ? 3 : 2
    return cut < wanted ? decodeUtf8(bytes.subarray(0, bytes.length - cut)) : undefined
  }
  return undefined
}
