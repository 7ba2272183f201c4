// Names with `*` for any characters, matched in time proportional to the product of both lengths at most.

export function matchesPattern(pattern: string, name: string): boolean {
  let at = 0
  let inPattern = 0
  let star = -1
  let starAt = 0
  while (at < name.length) {
    if (pattern[inPattern] === '*') {
      star = inPattern++
      starAt = at
    } else if (pattern[inPattern] === name[at]) {
      inPattern++
      at++
    } else if (star >= 0) {
      // The last star takes one character more.
      inPattern = star + 1
      at = ++starAt
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern++
  return inPattern === pattern.length
}
