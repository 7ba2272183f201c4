// Marks the words of a value that the other value lacks, and lays a value out in lines.

/** A part of a line. `differs`: the other value lacks it. */
export type ValuePart = { readonly text: string; readonly differs: boolean }

const normalise = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')

/** Divides a value into words with the space before them, and marks those that the other value does not have. */
export function markDifferences(value: string, other: string): ValuePart[] {
  const left = new Map<string, number>()
  for (const word of other.split(/\s+/)) left.set(normalise(word), (left.get(normalise(word)) ?? 0) + 1)
  return (value.match(/\s*\S+/gu) ?? []).map((text) => {
    const word = normalise(text)
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    return { text, differs: word !== '' && count <= 0 }
  })
}

/**
 * Lays parts out in at most `max_lines` lines of `width` columns. A word that is longer is cut; dots end a value that has
 * more. Text must be safe already, since it is measured as it is shown.
 */
export function layOutParts(parts: readonly ValuePart[], width: number, max_lines: number): ValuePart[][] {
  const lines: ValuePart[][] = [[]]
  let used = 0
  for (const { text, differs } of parts) {
    let rest = used === 0 ? text.trimStart() : text
    while (rest !== '') {
      const line = lines.at(-1) ?? []
      if (used + measureText(rest) <= width) {
        line.push({ text: rest, differs })
        used += measureText(rest)
        break
      }
      if (used > 0) {
        lines.push([])
        used = 0
        rest = rest.trimStart()
        continue
      }
      const cut = cutText(rest, width)
      line.push({ text: cut, differs })
      rest = rest.slice(cut.length)
      used = width
    }
    if (lines.length > max_lines) break
  }
  if (lines.length <= max_lines) return lines
  const shown = lines.slice(0, max_lines)
  shown[max_lines - 1] = endWithDots(shown[max_lines - 1] ?? [], width)
  return shown
}

function endWithDots(line: readonly ValuePart[], width: number): ValuePart[] {
  const kept: ValuePart[] = []
  let used = 0
  for (const { text, differs } of line) {
    const room = Math.max(0, width - 3 - used)
    const cut = cutText(text, room)
    if (measureText(cut) > room) break
    kept.push({ text: cut, differs })
    used += measureText(cut)
    if (cut !== text) break
  }
  return [...kept, { text: '...', differs: false }]
}

/** Characters of the East Asian scripts and pictures, which take two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const combining = /\p{Mn}|\p{Me}/u

/** Columns of a text on a terminal. */
export function measureText(text: string): number {
  let columns = 0
  for (const character of text) columns += wide.test(character) ? 2 : combining.test(character) ? 0 : 1
  return columns
}

/** The longest beginning of a text within `width` columns; at least one character, unless the width is 0. */
function cutText(text: string, width: number): string {
  let columns = 0
  let cut = ''
  for (const character of text) {
    columns += measureText(character)
    if (columns > width && (cut !== '' || width === 0)) break
    cut += character
  }
  return cut
}
