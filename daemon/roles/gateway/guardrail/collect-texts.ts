// The texts of a value: those that a service would read, as they are and not as JSON escapes them.

/** Names of fields too. In one pass and without recursion: callers choose the depth. */
export function collectTexts(value: unknown): string[] {
  const texts: string[] = []
  const waiting: unknown[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') texts.push(next)
    // One by one: as arguments of one call, many of them exceed the stack.
    else if (Array.isArray(next)) for (const each of next) waiting.push(each)
    else if (typeof next === 'object' && next !== null)
      for (const [field, each] of Object.entries(next)) {
        texts.push(field)
        waiting.push(each)
      }
    else if (next !== null) texts.push(String(next))
  }
  return texts
}
