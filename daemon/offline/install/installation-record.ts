// The record of an installation: what it made, so that a later run knows its own files, and `platform uninstall` removes these alone.
import * as fs from 'node:fs'
import * as z from 'zod'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { layout } from './layout.ts'
import { clearDraft, placePath, requireSafeParents } from './safe-path.ts'

const path = z
  .string()
  .max(4_096)
  .regex(/^(\/[^/\0\n]+)+$/)
  .refine((text) => !text.split('/').includes('..'))

const installationRecord = z.strictObject({
  format: z.literal(1),
  /** False from the first change until the last one is done. */
  complete: z.boolean(),
  /** True once the files of the site belong to the users of the roles. */
  divided: z.boolean(),
  version: z.string().max(64),
  site: path,
  roles: z.array(z.string().max(64)).max(64),
  users: z.array(z.string().max(64)).max(64),
  group: z.string().max(64),
  service_manager: z.enum(['systemd', 'script']),
  /** While it is not complete, a path may stand here twice: as it was, and as it is to be. */
  files: z.array(z.strictObject({ path, sha256: z.string().regex(/^[0-9a-f]{64}$/) })).max(20_000),
  links: z.array(z.strictObject({ path, target: z.string().max(4_096) })).max(1_000),
  /** Folders that did not exist before. */
  folders: z.array(path).max(20_000),
})
export type InstallationRecord = z.infer<typeof installationRecord>

const max_record_bytes = 16_777_216

/** Undefined if nothing is installed. Throws `OfflineCommandError` (3) for a record that this version cannot read. */
export function readInstallationRecord(root: string): InstallationRecord | undefined {
  const file = placePath(root, layout.record)
  requireSafeParents(file)
  const stats = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!stats) return undefined
  if (!stats.isFile() || stats.size > max_record_bytes) throw refuseRecord(file, 'not a plain file of an expected size')
  const value = parseJson(fs.readFileSync(file))
  if (value === undefined) throw refuseRecord(file, 'not JSON')
  const validation = parseWithSchema(installationRecord, value)
  if (!validation.success) throw refuseRecord(file, validation.errors[0]?.message ?? '')
  return validation.data
}

function refuseRecord(file: string, reason: string): OfflineCommandError {
  return new OfflineCommandError(3, `${file} is not a record of an installation: ${reason}`, 'restore it from a backup')
}

export function writeInstallationRecord(root: string, record: InstallationRecord): void {
  const file = placePath(root, layout.record)
  requireSafeParents(file)
  writeDurably(file, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o644, draft: clearDraft(file) })
  fs.chmodSync(file, 0o644)
}
