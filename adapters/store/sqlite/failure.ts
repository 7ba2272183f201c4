// Distinguishes a failing disk from a failing program: the first is a refusal that the caller may retry, the second is a bug.
import Database from 'better-sqlite3'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'

/** Primary result codes for what the outside broke: disk, file, lock, memory (https://sqlite.org/rescode.html). */
const environmentCodes =
  /^SQLITE_(BUSY|LOCKED|NOMEM|READONLY|INTERRUPT|IOERR|CORRUPT|FULL|CANTOPEN|PROTOCOL|NOTADB|PERM|AUTH|NOLFS)(_|$)/

export function isEnvironmentError(error: unknown): boolean {
  return error instanceof Database.SqliteError && environmentCodes.test(error.code)
}

/** `Refusal('unavailable')` for what the outside broke, naming SQLite's code only; any other error as it is. */
export function toRefusal(error: unknown): unknown {
  return isEnvironmentError(error) ? storeUnavailable((error as { code: string }).code) : error
}

export function storeUnavailable(why: string): Refusal {
  return new Refusal('unavailable', `the local store cannot be used now (${why})`, [], 1)
}
