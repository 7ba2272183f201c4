// Parses JSON strictly: refuses text that two parsers could read differently, and reports incomplete text separately.
import { scanJson } from './json-scan.ts'

/** `incomplete`: more bytes could complete the value. */
export type StrictJson =
  | { readonly outcome: 'value'; readonly value: unknown }
  | { readonly outcome: 'incomplete' }
  | { readonly outcome: 'BAD_JSON' | 'DUP_KEY'; readonly detail: string }

/**
 * Accepts what `JSON.parse` accepts of text or of its UTF-8 bytes, except: a repeated key, a key `__proto__`, nesting beyond `max_depth`
 * levels, half a surrogate pair, a number beyond the range of a double.
 */
export function readStrictJson(json: string | Uint8Array, max_depth: number): StrictJson {
  const text = typeof json === 'string' ? json : decodeUtf8(json)
  if (text === undefined && typeof json !== 'string') return readCutText(json, max_depth)
  return text?.isWellFormed() ? readText(text, max_depth) : notUtf8
}

/** The value of strict JSON, or undefined for anything else. */
export function parseStrictJson(json: string | Uint8Array, max_depth: number): unknown {
  const read = readStrictJson(json, max_depth)
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

function readText(text: string, max_depth: number): StrictJson {
  const flaw = scanJson(text, max_depth)
  if (flaw === 'incomplete') return { outcome: 'incomplete' }
  if (flaw) return flaw
  try {
    return { outcome: 'value', value: JSON.parse(text) as unknown }
  } catch {
    return { outcome: 'BAD_JSON', detail: 'not JSON' }
  }
}

/** Bytes that are not UTF-8: incomplete when they only end inside a character, as a file does that is still being written. */
function readCutText(bytes: Uint8Array, max_depth: number): StrictJson {
  const text = decodeWithoutCutCharacter(bytes)
  const flaw = text === undefined ? undefined : scanJson(text, max_depth)
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
