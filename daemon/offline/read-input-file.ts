// Reads input files that a person names.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { runAsInvoker } from '../boot/host/act-as-owner.ts'
import { OfflineCommandError } from './offline-command-error.ts'

/** Above every document that people carry: an evidence block, a JWKS, a draft, a message body of 4 MiB. */
export const max_document_bytes = 8_388_608

/**
 * Reads the whole file as text, with the rights of the invoking user. Throws `OfflineCommandError`: 1 if it cannot be read, 2 if it
 * is not UTF-8 or has more than `max_bytes`, of which it then reads no more.
 */
export function readInputFile(file: string, max_bytes = max_document_bytes): string {
  const bytes = readInputBytes(file, max_bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new OfflineCommandError(2, `${file} is not UTF-8 text`)
  }
}

/** The same as bytes, for a file that may be longer than a text can be. */
export function readInputBytes(file: string, max_bytes: number): Buffer {
  return runAsInvoker(() => readBytes(file, max_bytes))
}

function readBytes(file: string, max_bytes: number): Buffer {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    throw unreadableFile(file, error)
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
    throw unreadableFile(file, error)
  }
}

/** The failure to open a file that a command names, in words. */
export function unreadableFile(file: string, error: unknown): OfflineCommandError {
  const { code } = error as NodeJS.ErrnoException
  const reasons: Readonly<Record<string, string>> = { ENOENT: 'it does not exist', EISDIR: 'it is a folder' }
  return new OfflineCommandError(1, `${file} cannot be read: ${reasons[code ?? ''] ?? 'this user may not read it'}`)
}

function tooLarge(file: string, max_bytes: number): OfflineCommandError {
  return new OfflineCommandError(2, `${file} is larger than ${max_bytes} bytes, the limit of this kind of file`)
}
