// Converts text of any supported encoding to UTF-8 while it is read. The byte order mark decides; nothing is guessed.
import { type ByteSource, fillBuffer } from './byte-source.ts'

export const textEncodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin-1', 'windows-1252'] as const
export type TextEncodingName = (typeof textEncodings)[number]

/** Names for people. */
export const encodingLabels: Readonly<Record<TextEncodingName, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
  'latin-1': 'Latin-1',
  'windows-1252': 'Windows-1252',
}

const marks: readonly (readonly [TextEncodingName, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Bytes of the other encodings that are converted together. Each gives at most three bytes of UTF-8 for two, or for one. */
const piece_bytes = 65_536

/**
 * Returns the text as UTF-8 without its byte order mark. `encoding`: of text without a mark. Bytes that are not of the encoding
 * become bytes that are not UTF-8, so that the reader of records reports the place; UTF-8 is passed on unchecked.
 */
export async function openUtf8(source: ByteSource, encoding: TextEncodingName): Promise<ByteSource> {
  const first = new Uint8Array(3)
  const length = await fillBuffer(source, first, 0)
  const mark = findByteOrderMark(first.subarray(0, length))
  const rest = prependBytes(first.subarray(mark?.length ?? 0, length), source)
  const name = mark?.encoding ?? encoding
  return name === 'utf-8' ? rest : convertedSource(rest, converters[name])
}

/** The byte order mark at the beginning of the text, and its length in bytes; undefined without one. */
export function findByteOrderMark(
  text: Uint8Array,
): { readonly encoding: TextEncodingName; readonly length: number } | undefined {
  const mark = marks.find(([, bytes]) => bytes.length <= text.length && bytes.every((byte, at) => text[at] === byte))
  return mark && { encoding: mark[0], length: mark[1].length }
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

/** A byte that no UTF-8 has: it stands for bytes that are not of the encoding. */
const not_utf8_byte = 0xff

/** Converts `from` to UTF-8 in `into`; returns the bytes written. `from` ends at a whole character, or at the end of the file. */
type Utf8Converter = (from: Uint8Array, into: Uint8Array) => number

function convertedSource(source: ByteSource, convert: Utf8Converter): ByteSource {
  const piece = new Uint8Array(piece_bytes)
  const converted = new Uint8Array(piece_bytes * 3)
  let [carried, start, end] = [0, 0, 0]
  const refill = async () => {
    const length = await fillBuffer(source, piece, carried)
    const isEnd = length < piece.length
    const isPairs = convert === convertUtf16Le || convert === convertUtf16Be
    const whole = isEnd || !isPairs ? length : countWholeCharacters(piece, convert === convertUtf16Be)
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

/** A whole text as UTF-8. Bytes that are not of the encoding become bytes that are not UTF-8; UTF-8 is returned unchecked. */
export function toUtf8(text: Uint8Array, encoding: TextEncodingName): Uint8Array {
  if (encoding === 'utf-8') return text
  const converted = new Uint8Array(text.length * 3)
  return converted.subarray(0, converters[encoding](text, converted))
}

const convertLatin1: Utf8Converter = (from, into) => {
  let at = 0
  for (const byte of from) at = writeCodePoint(byte, into, at)
  return at
}

/** Characters of the bytes 0x80 to 0x9f; 0 for the five bytes that stand for none (WHATWG and Unicode differ about them). */
const windows1252: readonly number[] = [
  ...[0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0],
  ...[
    0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e,
    0x0178,
  ],
]

const convertWindows1252: Utf8Converter = (from, into) => {
  let at = 0
  for (const byte of from) {
    const code = byte >= 0x80 && byte < 0xa0 ? (windows1252[byte - 0x80] ?? 0) : byte
    if (code === 0 && byte !== 0) into[at++] = not_utf8_byte
    else at = writeCodePoint(code, into, at)
  }
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
  // Half a character.
  if (index < from.length) into[at++] = not_utf8_byte
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
  'windows-1252': convertWindows1252,
}
