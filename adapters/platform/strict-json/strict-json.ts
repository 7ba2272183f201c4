// Parses JSON strictly: refuses text that two parsers could read differently, and reports incomplete text separately.
import { isUtf8 } from 'node:buffer'
import { scanJson } from './json-scan.ts'

/** `incomplete`: more bytes could complete the value. */
export type StrictJson =
  | { readonly outcome: 'value'; readonly value: unknown }
  | { readonly outcome: 'incomplete' }
  | { readonly outcome: 'BAD_JSON' | 'DUP_KEY'; readonly detail: string }

/**
 * Accepts what `JSON.parse` accepts of UTF-8 bytes, except: a repeated key, a key `__proto__`, nesting beyond `max_depth`
 * levels, half a surrogate pair, a number beyond the range of a double.
 */
export function readStrictJson(bytes: Buffer, max_depth: number): StrictJson {
  const sound = isUtf8(bytes)
  const whole = sound ? bytes : withoutCutCharacter(bytes)
  if (!whole) return { outcome: 'BAD_JSON', detail: 'not UTF-8' }
  const text = whole.toString('utf8')
  const flaw = scanJson(text, max_depth)
  if (flaw === 'incomplete') return { outcome: 'incomplete' }
  if (flaw) return flaw
  if (!sound) return { outcome: 'BAD_JSON', detail: 'not UTF-8' }
  try {
    return { outcome: 'value', value: JSON.parse(text) as unknown }
  } catch {
    return { outcome: 'BAD_JSON', detail: 'not JSON' }
  }
}

/** The value of strict JSON, or undefined for any other bytes. */
export function parseStrictJson(bytes: Buffer, max_depth: number): unknown {
  const read = readStrictJson(bytes, max_depth)
  return read.outcome === 'value' ? read.value : undefined
}

/** A file that is still being written may end inside a character, at most three bytes of it being there. */
function withoutCutCharacter(bytes: Buffer): Buffer | undefined {
  for (let cut = 1; cut <= Math.min(3, bytes.length); cut++) {
    const last = bytes[bytes.length - cut] ?? 0
    if (last < 0x80) return undefined
    if (last < 0xc0) continue
    const wanted = last >= 0xf0 ? 4 : last >= 0xe0 ? 3 : 2
    const head = bytes.subarray(0, bytes.length - cut)
    return cut < wanted && isUtf8(head) ? head : undefined
  }
  return undefined
}
