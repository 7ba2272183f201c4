// Normalises plain values byte by byte: ASCII values need no decoding to a string.
import type { NormaliserName } from '../../lens/normalisers.ts'

/**
 * Writes the normalised form of `bytes[from]` to `bytes[to]` to `into`; returns its length, or -1 for the text
 * normaliser.
 */
export type ByteNormaliser = (bytes: Uint8Array, from: number, to: number, into: Uint8Array) => number

const space = 32
/** Lower-case letter or digit of each ASCII byte, and a space for other bytes. */
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

/** Normalises `yyyymmdd`, also with a separator between the parts. */
function normaliseDate(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  const separator_length = to - from === 10 ? 1 : 0
  if (to - from !== 8 + 2 * separator_length) return -1
  if (separator_length === 1 && !(isSeparator(bytes[from + 4]!) && isSeparator(bytes[from + 7]!))) return -1
  for (let digit = 0; digit < 8; digit++) {
    const byte = bytes[from + digit + separator_length * ((digit > 3 ? 1 : 0) + (digit > 5 ? 1 : 0))]!
    if (!isDigit(byte)) return -1
    into[digit] = byte
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

/** Byte normalisers of the most frequent forms; others always use the text normaliser. */
const byteNormalisers: Partial<Readonly<Record<NormaliserName, ByteNormaliser>>> = {
  words: normaliseWords,
  code: normaliseCode,
  date: normaliseDate,
  email: normaliseEmail,
}

/** Chooses the byte normaliser; several normalisers together always use the text normaliser. */
export function chooseByteNormaliser([name, ...others]: readonly NormaliserName[]): ByteNormaliser {
  return (name && others.length === 0 ? byteNormalisers[name] : undefined) ?? deferToText
}
