// Normal forms of plain values byte by byte: what is written in ASCII needs no string to be brought into its form.
import type { NormaliserName } from '../../lens/normalisers.ts'

/**
 * Writes the normal form of `bytes[from]` to `bytes[to]` to the start of `into`; its length, or -1: it needs a closer
 * look.
 */
export type ByteNormaliser = (bytes: Uint8Array, from: number, to: number, into: Uint8Array) => number

const space = 32
/** Of each byte of ASCII: its small letter or digit, and a space for all else. */
const asciiLetters = Uint8Array.from({ length: 128 }, (_, byte) => {
  const letter = String.fromCharCode(byte).toLowerCase()
  return /[a-z0-9]/.test(letter) ? letter.charCodeAt(0) : space
})

function normaliseWords(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let length = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    if (byte >= 128) return -1
    const letter = asciiLetters[byte]!
    if (letter !== space || (length > 0 && into[length - 1] !== space)) into[length++] = letter
  }
  return length > 0 && into[length - 1] === space ? length - 1 : length
}

function normaliseCode(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let length = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    if (byte >= 128) return -1
    const letter = asciiLetters[byte]!
    if (letter !== space) into[length++] = letter
  }
  return length
}

/** `yyyymmdd`, or the same with one sign between each two parts. */
function normaliseDate(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  const apart = to - from === 10 ? 1 : 0
  if (to - from !== 8 + 2 * apart) return -1
  if (apart === 1 && !(isSeparator(bytes[from + 4]!) && isSeparator(bytes[from + 7]!))) return -1
  for (let place = 0; place < 8; place++) {
    const byte = bytes[from + place + apart * ((place > 3 ? 1 : 0) + (place > 5 ? 1 : 0))]!
    if (!isDigit(byte)) return -1
    into[place] = byte
  }
  return 8
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

function isSeparator(byte: number): boolean {
  return byte < 128 && !isDigit(byte)
}

function normaliseEmail(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  let [start, end] = [from, to]
  while (start < end && isBlank(bytes[start]!)) start++
  while (end > start && isBlank(bytes[end - 1]!)) end--
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= 128) return -1
    into[at - start] = byte >= 65 && byte <= 90 ? byte + 32 : byte
  }
  return end - start
}

function isBlank(byte: number): boolean {
  return byte === space || (byte >= 9 && byte <= 13)
}

function deferToText(): number {
  return -1
}

/** Of the forms that most values have; the others always look closer. */
const byteNormalisers: Partial<Readonly<Record<NormaliserName, ByteNormaliser>>> = {
  words: normaliseWords,
  code: normaliseCode,
  date: normaliseDate,
  email: normaliseEmail,
}

/** What several normalisers do together is done to texts. */
export function chooseByteNormaliser([name, ...others]: readonly NormaliserName[]): ByteNormaliser {
  return (name && others.length === 0 ? byteNormalisers[name] : undefined) ?? deferToText
}
