// Converts text of any supported encoding to UTF-8 while it is read. The byte order mark decides; nothing is guessed.
import { type ByteSource, fillBuffer } from './byte-source.ts'

export const textEncodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin-1'] as const
export type TextEncodingName = (typeof textEncodings)[number]

const marks: readonly (readonly [TextEncodingName, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Bytes of the other encodings that are converted together. Each gives at most three bytes of UTF-8 for two, or two for one. */
const piece_bytes = 65_536

/**
 * Returns the text as UTF-8 without its byte order mark. `encoding`: of text without a mark. Bytes that are not of the encoding
 * become bytes that are not UTF-8, so that the reader of records reports the place; UTF-8 is passed on unchecked.
 */
export async function openUtf8(source: ByteSource, encoding: TextEncodingName): Promise<ByteSource> {
  const first = new Uint8Array(3)
  const length = await fillBuffer(source, first, 0)
  const mark = marks.find(([, bytes]) => bytes.length <= length && bytes.every((byte, at) => first[at] === byte))
  const rest = prependBytes(first.subarray(mark?.[1].length ?? 0, length), source)
  const name = mark?.[0] ?? encoding
  return name === 'utf-8' ? rest : convertedSource(rest, converters[name])
}

function prependBytes(first: Uint8Array, source: ByteSource): ByteSource {
  let rest = first
  return {
    read(into) {
      if (rest.length === 0) return source.read(into)
      const part = rest.subarray(0, into.length)
      into.set(part)
      rest = rest.subarray(part.length)
      return part.length
    },
  }
}

/** Converts `from` to UTF-8 in `into`; returns the bytes written. `from` ends at a whole character, or at the end of the file. */
type Utf8Converter = (from: Uint8Array, into: Uint8Array) => number

function convertedSource(source: ByteSource, convert: Utf8Converter): ByteSource {
  const piece = new Uint8Array(piece_bytes)
  const converted = new Uint8Array(piece_bytes * 2 + 3)
  let [carried, start, end] = [0, 0, 0]
  const refill = async () => {
    const length = await fillBuffer(source, piece, carried)
    const isEnd = length < piece.length
    const whole = isEnd || convert === convertLatin1 ? length : countWholeCharacters(piece, convert === convertUtf16Be)
    start = 0
    end = convert(piece.subarray(0, whole), converted)
    carried = length - whole
    piece.copyWithin(0, whole, length)
  }
  return {
    async read(into) {
      if (start === end) await refill()
      const part = converted.subarray(start, Math.min(end, start + into.length))
      into.set(part)
      start += part.length
      return part.length
    },
  }
}

/** Leaves out the first half of a pair of surrogates at the end. The length of the bytes is even. */
function countWholeCharacters(bytes: Uint8Array, isBigEndian: boolean): number {
  const high = bytes[bytes.length - (isBigEndian ? 2 : 1)] ?? 0
  return high >= 0xd8 && high < 0xdc ? bytes.length - 2 : bytes.length
}

const convertLatin1: Utf8Converter = (from, into) => {
  let at = 0
  for (const byte of from) at = writeCodePoint(byte, into, at)
  return at
}

const convertUtf16Le: Utf8Converter = (from, into) => convertUtf16(from, into, true)
const convertUtf16Be: Utf8Converter = (from, into) => convertUtf16(from, into, false)

function convertUtf16(from: Uint8Array, into: Uint8Array, isLittleEndian: boolean): number {
  const view = new DataView(from.buffer, from.byteOffset, from.byteLength)
  let at = 0
  let index = 0
  for (; index + 1 < from.length; index += 2) {
    const unit = view.getUint16(index, isLittleEndian)
    const next =
      unit >= 0xd800 && unit < 0xdc00 && index + 3 < from.length ? view.getUint16(index + 2, isLittleEndian) : 0
    if (next >= 0xdc00 && next < 0xe000) {
      at = writeCodePoint(0x10000 + ((unit - 0xd800) << 10) + next - 0xdc00, into, at)
      index += 2
    } else at = writeCodePoint(unit, into, at)
  }
  // Half a character: a byte that no UTF-8 has.
  if (index < from.length) into[at++] = 0xff
  return at
}

/** A surrogate without its other half becomes three bytes that are not UTF-8. */
function writeCodePoint(code: number, into: Uint8Array, start: number): number {
  let at = start
  if (code < 0x80) {
    into[at++] = code
    return at
  }
  const trailing = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
  into[at++] = (trailing === 1 ? 0xc0 : trailing === 2 ? 0xe0 : 0xf0) | (code >> (6 * trailing))
  for (let shift = 6 * (trailing - 1); shift >= 0; shift -= 6) into[at++] = 0x80 | ((code >> shift) & 0x3f)
  return at
}

const converters: Readonly<Record<Exclude<TextEncodingName, 'utf-8'>, Utf8Converter>> = {
  'utf-16le': convertUtf16Le,
  'utf-16be': convertUtf16Be,
  'latin-1': convertLatin1,
}
