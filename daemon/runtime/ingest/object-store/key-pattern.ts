// Patterns of keys: every one takes time in proportion to its length and that of the key, whatever both are.

/** `rest`: any characters up to the next slash, once `folders` has begun one. */
type PatternStep = { readonly kind: 'one' | 'star' | 'deep' | 'folders' | 'rest' | 'text'; readonly text: string }

/** `*`: any text without a slash; `**`: any; `**` with a slash after it: any folders, or none; `?`: one character but a slash. */
export function keyMatcher(pattern: string): (key: string) => boolean {
  const steps = parsePattern(pattern)
  return (key) => {
    let at = enter(steps, new Set(), 0)
    for (const character of key) {
      at = advance(steps, at, character)
      if (at.size === 0) return false
    }
    return at.has(steps.length)
  }
}

function parsePattern(pattern: string): PatternStep[] {
  return (pattern.match(/\*\*\/|\*\*|\*|\?|[^*?]/gsu) ?? []).flatMap((text): PatternStep[] => {
    if (text === '**/')
      return [
        { kind: 'folders', text },
        { kind: 'rest', text },
      ]
    const kind = ({ '**': 'deep', '*': 'star', '?': 'one' } as const)[text] ?? 'text'
    return [{ kind, text }]
  })
}

/** Adds a step, and those that may follow without a character. */
function enter(steps: readonly PatternStep[], at: Set<number>, step: number): Set<number> {
  if (at.has(step)) return at
  at.add(step)
  const { kind } = steps[step] ?? {}
  if (kind === 'star' || kind === 'deep') enter(steps, at, step + 1)
  if (kind === 'folders') enter(steps, enter(steps, at, step + 1), step + 2)
  return at
}

function advance(steps: readonly PatternStep[], at: ReadonlySet<number>, character: string): Set<number> {
  const next = new Set<number>()
  for (const step of at) {
    const { kind, text } = steps[step] ?? {}
    const isSlash = character === '/'
    if (kind === 'deep' || kind === 'rest' || (kind === 'star' && !isSlash)) enter(steps, next, step)
    if ((kind === 'one' && !isSlash) || (kind === 'rest' && isSlash) || (kind === 'text' && text === character))
      enter(steps, next, step + 1)
  }
  return next
}
