// Finds the nearest known word, for "did you mean".

/**
 * The known word with the smallest edit distance (Levenshtein), ignoring case; '' when no word is known. A word that
 * continues the given one after an underscore counts as one edit: for `mcp`, `mcp_url` is nearer than `port`.
 */
export function nearestWord(word: string, known: readonly string[]): string {
  return findNearestWord(word, known).nearest
}

/** The same with its distance, which is infinite where no word is known. */
export function findNearestWord(word: string, known: readonly string[]): { nearest: string; distance: number } {
  let best = known[0] ?? ''
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const [given, other] = [word.toLowerCase(), candidate.toLowerCase()]
    const cost = other.startsWith(`${given}_`) ? 1 : editDistance(given, other)
    if (cost < least) [best, least] = [candidate, cost]
  }
  return { nearest: best, distance: least }
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
