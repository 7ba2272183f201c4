// Records changes that a person makes to the site's files in the audit chain of the site role, whether or not it runs.
import { randomBytes } from 'node:crypto'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { auditWriterName, ensureRunFolder } from '../../boot/storage/role-storage.ts'
import { roleDatabaseFile, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

export type OperatorAction = {
  /** Named like operations: `site.<noun>.<verb>`. */
  readonly action: string
  readonly target: string
  /** Must not contain secrets. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Records the action durably. */
export async function recordOperatorAction(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { action, target, detail = {} }: OperatorAction,
): Promise<void> {
  const { tenant_id } = readSiteSettings(folder, env).platform
  await withSiteDatabase(folder, env, async (_file, audit) => {
    const at = new Date().toISOString()
    const trace_id = randomBytes(16).toString('hex')
    const subject = `cli:${invoker()}`
    await audit.append([{ at, action, outcome: 'done', tenant_id, subject, target, trace_id, detail: { ...detail } }])
  })
}

/** Opens the site role's database, creating it if it is missing; a daemon may have it open. */
export async function withSiteDatabase<T>(
  folder: SiteFolder,
  env: EnvironmentVariables,
  use: (file: SqliteFile, audit: SqliteAudit) => Promise<T>,
): Promise<T> {
  const { platform } = readSiteSettings(folder, env)
  const file = sqliteFile({ file: roleDatabaseFile(folder, 'site'), addonDir: ensureRunFolder(folder, 'site') })
  try {
    return await use(file, sqliteAudit(file, auditWriterName('site', platform.name)))
  } finally {
    await file.close()
  }
}
