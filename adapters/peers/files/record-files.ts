// Records of trusted peers and people: one private file each, changed only by renaming a whole one into place.

import * as fs from 'node:fs'
import { join } from 'node:path'
import type * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { syncFolder } from '../../platform/durable-file/sync-folder.ts'
import { writeDurably } from '../../platform/durable-file/write-durably.ts'
import { readSecretFile } from '../../platform/secret-file/read-secret-file.ts'

const max_record_bytes = 1_048_576

/**
 * File names of the records of a kind (`peer`, say), sorted; none when there is no folder. Throws an Error with its remedy for a folder that
 * others may enter, and for a file of another name: to leave one out would silently change whom the site trusts.
 */
export function listRecordNames(dir: string, pattern: RegExp, kind: string): string[] {
  const folder = fs.statSync(dir, { throwIfNoEntry: false })
  if (!folder) return []
  requirePrivateFolder(folder.mode, dir)
  const names = fs.readdirSync(dir).filter((name) => !name.startsWith('.'))
  const unknown = names.find((name) => !pattern.test(name))
  if (unknown !== undefined) throw new Error(`${join(dir, unknown)} is not a ${kind} file; move it out of the folder`)
  return names.sort()
}

/** Undefined for a file that holds no such record. Throws `SecretFileError` for one that others may read, or a link. */
export function readRecord<T>(path: string, schema: z.ZodType<T>): T | undefined {
  return parseJsonAs(schema, readSecretFile(path, { max_bytes: max_record_bytes }))
}

/** Durable when it returns: a crash leaves the old file or the new one, never a part. */
export function writeRecord(dir: string, name: string, value: unknown): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeDurably(join(dir, name), `${JSON.stringify(value, undefined, 2)}\n`)
}

export function removeRecord(dir: string, name: string): void {
  fs.unlinkSync(join(dir, name))
  syncFolder(dir)
}

function requirePrivateFolder(mode: number, dir: string): void {
  if ((mode & 0o077) === 0) return
  throw new Error(`${dir} can be read by others; run: chmod 700 ${dir}`)
}
