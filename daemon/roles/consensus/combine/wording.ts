// Formats numbers, names and lists as text, identically on every machine and in every locale.

/** Number of items of a long list that are written out. */
export const listedMax = 10

const PLACES = 4

/** At most four decimals, never rounded to certainty: only 0 and 1 print as 0 and 1. */
export function formatNumber(value: number): string {
  const rounded = Number(value.toFixed(PLACES))
  if (rounded === 0 && value !== 0) return value > 0 ? 'under 0.0001' : 'over -0.0001'
  if (Math.abs(rounded) === 1 && Math.abs(value) < 1) return value > 0 ? 'over 0.9999' : 'under -0.9999'
  // Adding zero turns a negative zero into a plain one.
  return String(rounded + 0)
}

/** Joins words as "a", "a and b", "a, b and c"; beyond ten, the first ten and the number of others. */
export function formatList(words: readonly string[]): string {
  if (words.length > listedMax) {
    return `${words.slice(0, listedMax).join(', ')} and ${words.length - listedMax} more`
  }
  const last = words.at(-1) ?? 'nobody'
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
