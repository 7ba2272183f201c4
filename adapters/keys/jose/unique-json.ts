// JSON of issuers that we do not write ourselves: any layout, but no member twice.
import { isCanonicalBase64url } from './public-jwk.ts'

/**
 * The value behind base64url of UTF-8 JSON. Undefined for a member that stands twice in its object, which two parsers
 * may read differently, and for anything that is no JSON.
 */
export function parseUniqueJson(encoded: string): unknown {
  if (!isCanonicalBase64url(encoded)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64url'))
    const value: unknown = JSON.parse(text)
    return countWrittenMembers(text) === countMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Members as they are written: each has its colon, and every other colon is inside a string. */
function countWrittenMembers(text: string): number {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts = Object.values(value)
  return parts.reduce((sum: number, part) => sum + countMembers(part), Array.isArray(value) ? 0 : parts.length)
}
