// Records changes that a person makes to the site's files in the audit chain of the site role, whether or not it runs.
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import type { SqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { auditWriterName, ensureRunFolder } from '../../boot/storage/role-storage.ts'
import { roleDatabaseFile, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { type AuditEvent, auditEvent } from '../../kernel/audit/audit-chain.ts'
import { outline as site } from '../../roles/site/outline.ts'
import { roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { openDatabaseFile } from '../store/role-database.ts'
import { requireDataFolder } from './require-data-folder.ts'

export type OperatorAction = {
  /** Named like operations: `site.<noun>.<verb>`. */
  readonly action: string
  readonly target: string
  /** Must not contain secrets. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Records the action durably, in the name of the person who started the command. */
export async function recordOperatorAction(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { action, target, detail = {} }: OperatorAction,
): Promise<void> {
  requireDataFolder(folder)
  const { tenant_id } = readSiteSettings(folder, env).platform
  const at = new Date().toISOString()
  const trace_id = randomBytes(16).toString('hex')
  const subject = `cli:${invoker()}`
  const event: AuditEvent = { at, action, outcome: 'done', tenant_id, subject, target, trace_id, detail: { ...detail } }
  await runRoleTask(appendAuditEvent, { folder, env, role: site }, event)
}

export const appendAuditEvent = roleTask({
  name: 'append-audit-event',
  input: auditEvent,
  event: z.never(),
  output: z.null(),
  async run({ folder, env }, event) {
    await withSiteDatabase(folder, env, (_file, audit) => audit.append([event]))
    return null
  },
})

/** Opens the site role's database, creating it in the data of the site if it is missing; a daemon may have it open. */
export async function withSiteDatabase<T>(
  folder: SiteFolder,
  env: EnvironmentVariables,
  use: (file: SqliteFile, audit: SqliteAudit) => Promise<T>,
): Promise<T> {
  requireDataFolder(folder)
  const { platform } = readSiteSettings(folder, env)
  const file = openDatabaseFile(roleDatabaseFile(folder, 'site'), ensureRunFolder(folder, 'site'))
  try {
    return await use(file, sqliteAudit(file, auditWriterName('site', platform.name)))
  } finally {
    await file.close()
  }
}
