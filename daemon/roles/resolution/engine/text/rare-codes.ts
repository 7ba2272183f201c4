// Codes within texts that few texts share: they identify a thing, where common ones are its properties.
import { isCodeWord } from './normalise.ts'

/** A code of more records than this share, and than this number, is a property. */
const max_code_share = 0.002
const max_code_records = 3

/** Lists the rare codes of each normalised text. `counts`: records of each text, or 1. `records`: all of them. */
export function listRareCodes(texts: readonly string[], records: number, counts?: Int32Array): string[][] {
  const codes = texts.map((text) => [...new Set(text.split(' ').filter(isCodeWord))])
  const recordsOf = new Map<string, number>()
  for (const [at, list] of codes.entries()) {
    for (const code of list) recordsOf.set(code, (recordsOf.get(code) ?? 0) + (counts?.[at] ?? 1))
  }
  const limit = Math.max(max_code_records, Math.floor(records * max_code_share))
  return codes.map((list) => list.filter((code) => (recordsOf.get(code) ?? 0) <= limit))
}
