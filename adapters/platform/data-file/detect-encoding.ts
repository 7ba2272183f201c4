// Finds the encoding of a text: by its byte order mark, by the zero bytes of UTF-16, and by whether all of it is UTF-8.
import { isAscii, isUtf8 } from 'node:buffer'
import { type ByteSource, fillBuffer } from '../../../daemon/kernel/data/byte-source.ts'
import { findByteOrderMark, type TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { DataFileError } from './data-file.ts'

export type DetectedEncoding = {
  readonly encoding: TextEncodingName
  readonly hasMark: boolean
  /** Bytes that are not UTF-8, in a text that is UTF-8 else; and letters that only UTF-8 gives, in one that is not. */
  readonly odd_count: number
}

/** Bytes that are judged together. */
const piece_bytes = 262_144
/** UTF-16 is recognised by the beginning of the text. */
const first_bytes = 65_536

/**
 * Reads all of the text, since one letter at its end may decide. A text that is not UTF-8 is Windows-1252, which has the letters
 * of Latin-1. One that has many letters of UTF-8 is UTF-8 with damaged records: no other text has them by chance. Throws `DataFileError` for bytes
 * that are not text.
 */
export async function detectEncoding(open: () => ByteSource): Promise<DetectedEncoding> {
  const source = open()
  const piece = new Uint8Array(piece_bytes)
  let end = await fillBuffer(source, piece, 0)
  const mark = findByteOrderMark(piece.subarray(0, end))
  if (mark) return { encoding: mark.encoding, hasMark: true, odd_count: 0 }
  const wide = detectUtf16(piece.subarray(0, Math.min(end, first_bytes)))
  if (wide) return { encoding: wide, hasMark: false, odd_count: 0 }
  if (isBinary(piece.subarray(0, Math.min(end, first_bytes))))
    throw new DataFileError(
      'cannot be read as text: it has control characters as only binary files do',
      'name a file of text, Parquet (.parquet) or Excel (.xlsx); --encoding states the encoding of a text',
    )
  for (let carried = 0; end > 0; end = await fillBuffer(source, piece, carried)) {
    const isLast = end < piece.length
    const whole = isLast ? end : endOfCharacters(piece)
    if (!isUtf8(piece.subarray(0, whole))) return await judgeOtherText(open())
    if (isLast) break
    piece.copyWithin(0, whole, end)
    carried = end - whole
  }
  return { encoding: 'utf-8', hasMark: false, odd_count: 0 }
}

/** Control characters from which bytes are not text: a damaged text has a few. One byte in ten is one in compressed data. */
const [min_controls, min_control_share] = [16, 0.02]
const textControls = new Set(Buffer.from('\t\n\v\f\r\x1b\x1a'))

function isBinary(bytes: Uint8Array): boolean {
  let controls = 0
  for (const byte of bytes) if (byte < 0x20 && !textControls.has(byte)) controls++
  return controls >= min_controls && controls >= min_control_share * bytes.length
}

/** Least share of characters that have a zero byte, and how many times more often it is the one byte of two than the other. */
const [min_zero_share, min_zero_ratio] = [0.05, 20]
const line_feed = 10

/**
 * Spaces, digits, delimiters and line ends have a zero byte in UTF-16; a text of another encoding may have one by damage. Its
 * line feeds tell both apart: those of UTF-16 have a zero byte.
 */
function detectUtf16(text: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros: [even: number, odd: number] = [0, 0]
  for (let at = text.indexOf(0); at >= 0; at = text.indexOf(0, at + 1)) zeros[at % 2 === 0 ? 0 : 1]++
  const [even, odd] = zeros
  const [most, least] = [Math.max(even, odd), Math.min(even, odd)]
  if (most < (min_zero_share * text.length) / 2 || most <= least * min_zero_ratio) return undefined
  const lowByte = odd > even ? 0 : 1
  let [feeds, wide_feeds] = [0, 0]
  for (let at = text.indexOf(line_feed); at >= 0; at = text.indexOf(line_feed, at + 1)) {
    feeds++
    if (at % 2 === lowByte && text[lowByte === 0 ? at + 1 : at - 1] === 0) wide_feeds++
  }
  if (wide_feeds * 2 < feeds || (feeds === 0 && most * 4 < text.length / 2)) return undefined
  return lowByte === 0 ? 'utf-16le' : 'utf-16be'
}

/** The end of the last whole character of UTF-8, of at most four bytes. */
function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return back < lengthOf(byte) ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Bytes of a character of UTF-8 by its first one; 1 for a byte that begins none. */
function lengthOf(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 1
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Where one letter in so many is of UTF-8, the text is UTF-8. */
const max_foreign_per_letter = 10

async function judgeOtherText(source: ByteSource): Promise<DetectedEncoding> {
  const { letters, others, cut_bytes } = await countLetters(source)
  // A text that ends within its only letter: UTF-8 that was cut, or a letter of Windows-1252 without a line end.
  const isCut = letters === 0 && others === cut_bytes
  if (isCut || letters * max_foreign_per_letter > others)
    return { encoding: 'utf-8', hasMark: false, odd_count: others }
  return { encoding: 'windows-1252', hasMark: false, odd_count: letters }
}

type LetterCounts = { readonly letters: number; readonly others: number; readonly cut_bytes: number }

/** Counts the characters of UTF-8 beyond ASCII, the bytes that belong to none, and those of an incomplete one at the end. */
async function countLetters(source: ByteSource): Promise<LetterCounts> {
  const piece = new Uint8Array(piece_bytes)
  let [letters, others] = [0, 0]
  for (let carried = 0; ; ) {
    const end = await fillBuffer(source, piece, carried)
    const isLast = end < piece.length
    const whole = isLast ? end : endOfCharacters(piece)
    for (let at = isAscii(piece.subarray(0, whole)) ? whole : 0; at < whole; ) {
      const length = lengthOf(piece[at] ?? 0)
      if (length > 1 && isUtf8(piece.subarray(at, Math.min(at + length, whole)))) {
        letters++
        at += length
      } else if ((piece[at++] ?? 0) >= 0x80) others++
    }
    if (isLast) return { letters, others, cut_bytes: end - endOfCharacters(piece.subarray(0, end)) }
    piece.copyWithin(0, whole, end)
    carried = end - whole
  }
}
