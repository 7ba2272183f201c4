// Compares what a command printed with what a page of documentation shows: words and figures alike, ids and times by their kind.

/** What differs from run to run, and what may stand in its place. `…` in a line stands for any text. */
const varying: readonly (readonly [shown: RegExp, allowed: string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/, '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'],
  [/\b(?:[a-z]+)_[0-9a-f]{8,}\b/, '[a-z]+_[0-9a-f]{8,}'],
  [/\b(?:message|root|secret|personal)-[\w-]*…?/, '[a-z]+-[\\w-]+'],
  [/(?<=^|\s)\/[\w./-]+/, '/\\S+'],
  // A fingerprint.
  [/\b[\w-]{43}\b/, '[\\w-]{43}'],
  [/\b\d{6}\b/, '\\d{6}'],
  [/\b[0-9a-f]{16,}\b/, '[0-9a-f]{16,}'],
  [/\b[\d.]+(?= (?:GiB|active|records,|checkpoints))/, '[\\d.]+'],
  [/…/, '.*'],
]

const anyVarying = new RegExp(varying.map(([shown]) => `(${shown.source})`).join('|'))

const escapeText = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\s+/g, '\\s+')

/** The pattern of a line that is shown. */
function patternOf(line: string): RegExp {
  let pattern = ''
  let rest = line.trim()
  for (let match = anyVarying.exec(rest); match; match = anyVarying.exec(rest)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined)
    pattern += escapeText(rest.slice(0, match.index)) + (varying[kind]?.[1] ?? '')
    rest = rest.slice(match.index + match[0].length)
  }
  return new RegExp(`^${pattern}${escapeText(rest)}$`)
}

const linesOf = (lines: readonly string[]) => lines.map((line) => line.trim()).filter((line) => line !== '')

/**
 * The first line that is shown and was not printed, or one that was printed and is not shown; undefined if both agree. A line
 * `…` stands for any lines.
 */
export function findOutputFault(shown: readonly string[], printed: string): string | undefined {
  const left = linesOf(printed.replaceAll('\r', '').split('\n'))
  let mayLeaveOut = false
  for (const line of linesOf(shown)) {
    if (line === '…') {
      mayLeaveOut = true
      continue
    }
    const pattern = patternOf(line)
    const at = mayLeaveOut ? left.findIndex((each) => pattern.test(each)) : pattern.test(left[0] ?? '') ? 0 : -1
    if (at < 0) return `shown and not printed: ${line}`
    left.splice(0, at + 1)
    mayLeaveOut = false
  }
  return left.length > 0 && !mayLeaveOut ? `printed and not shown: ${left[0]}` : undefined
}
