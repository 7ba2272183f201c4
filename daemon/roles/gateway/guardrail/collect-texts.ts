// The texts of a value: those that a service would read, as they are and not as JSON escapes them.

/** Names of fields too. In one pass and without recursion: callers choose the depth. */
export function collectTexts(value: unknown): string[] {
  const texts: string[] = []
  const waiting: unknown[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') texts.push(next)
    else if (Array.isArray(next)) waiting.push(...next)
    else if (typeof next === 'object' && next !== null) {
      texts.push(...Object.keys(next))
      waiting.push(...Object.values(next))
    } else if (next !== null) texts.push(String(next))
  }
  return texts
}
