// Finds the end of an escape in a JSON string; half a surrogate pair is a fault.

const backslash = 0x5c
const letterU = 0x75
const escapes = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)))

/** The end of the escape whose letter is at `at`; undefined if the text ends within it; a text for the fault. */
export function findEscapeEnd(text: string, at: number): number | string | undefined {
  const code = text.charCodeAt(at)
  if (code !== letterU) return escapes.has(code) ? at + 1 : 'an unknown escape'
  const unit = readHex(text, at + 1)
  if (typeof unit !== 'number') return unit
  if (unit < 0xd800 || unit > 0xdfff) return at + 5
  return findSecondHalfEnd(text, at + 5, unit)
}

function findSecondHalfEnd(text: string, from: number, first: number): number | string | undefined {
  for (const [offset, wanted] of [backslash, letterU].entries()) {
    const isAtEnd = from + offset >= text.length
    if (isAtEnd && first < 0xdc00) return undefined
    if (isAtEnd || first > 0xdbff || text.charCodeAt(from + offset) !== wanted) return 'half a surrogate pair'
  }
  const second = readHex(text, from + 2)
  if (typeof second !== 'number') return second
  return second >= 0xdc00 && second <= 0xdfff ? from + 6 : 'half a surrogate pair'
}

/** Four hexadecimal digits; undefined if the text ends within them; a text for the fault. */
function readHex(text: string, from: number): number | string | undefined {
  let unit = 0
  for (let at = from; at < from + 4; at++) {
    if (at >= text.length) return undefined
    const digit = hexDigitOf(text.charCodeAt(at))
    if (digit === undefined) return 'an escape that is not a character'
    unit = unit * 16 + digit
  }
  return unit
}

function hexDigitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
