// Reads input files that are named on the command line.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'

/** Above every document that people carry: an evidence block, a JWKS, a draft, a message body of 4 MiB. */
export const max_document_bytes = 8_388_608
/** A receipt is one JWS: at most 64 KiB of payload with 16 signatures of the largest kind. */
export const max_receipt_bytes = 524_288
/** A key set file holds up to 256 sets of up to 64 KiB with their signatures. */
export const max_key_set_bytes = 67_108_864
/** Records for a request, which the service limits further. */
export const max_data_bytes = 268_435_456

/**
 * Reads the whole file as text, with the rights of the invoking user. Throws `CommandFailure`: 1 if it cannot be read, 2 if it
 * is not UTF-8 or has more than `max_bytes`, of which it then reads no more.
 */
export function readInputFile(file: string, max_bytes = max_document_bytes): string {
  const bytes = offline.asInvoker(() => readBytes(file, max_bytes))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandFailure(2, `${file} is not UTF-8 text`)
  }
}

function readBytes(file: string, max_bytes: number): Buffer {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    throw unreadable(file, error)
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size > max_bytes) throw tooLarge(file, max_bytes)
    return readUpTo(descriptor, file, max_bytes)
  } finally {
    closeSync(descriptor)
  }
}

/** Piece by piece: a pipe has no size, and a file may grow. */
function readUpTo(descriptor: number, file: string, max_bytes: number): Buffer {
  const pieces: Buffer[] = []
  let total = 0
  for (;;) {
    const piece = Buffer.allocUnsafe(65_536)
    const read = readPiece(descriptor, file, piece)
    if (read === 0) return Buffer.concat(pieces)
    total += read
    if (total > max_bytes) throw tooLarge(file, max_bytes)
    pieces.push(piece.subarray(0, read))
  }
}

function readPiece(descriptor: number, file: string, piece: Buffer): number {
  try {
    return readSync(descriptor, piece)
  } catch (error) {
    throw unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): CommandFailure {
  const { code } = error as NodeJS.ErrnoException
  const reasons: Readonly<Record<string, string>> = { ENOENT: 'it does not exist', EISDIR: 'it is a folder' }
  return new CommandFailure(1, `${file} cannot be read: ${reasons[code ?? ''] ?? 'this user may not read it'}`)
}

function tooLarge(file: string, max_bytes: number): CommandFailure {
  return new CommandFailure(2, `${file} is larger than ${max_bytes} bytes, the limit of this kind of file`)
}
