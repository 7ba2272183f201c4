// Puts what a person did to the site's files into the audit chain of the site role, running or not.
import { randomBytes } from 'node:crypto'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/file.ts'
import { databaseOf, type SiteFolder } from '../site-folder.ts'
import { runFolder, writerOf } from '../stock.ts'
import { type Environment, siteSettings } from './site-profile.ts'

export type Deed = {
  /** As operations are named: `site.<noun>.<verb>`. */
  readonly action: string
  readonly target: string
  /** Never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Durable when it resolves. */
export async function record(
  folder: SiteFolder,
  env: Environment,
  { action, target, detail = {} }: Deed,
): Promise<void> {
  const { tenant_id } = siteSettings(folder, env).platform
  await withSiteFile(folder, env, async (_file, audit) => {
    const at = new Date().toISOString()
    const trace_id = randomBytes(16).toString('hex')
    const subject = `cli:${invoker()}`
    await audit.append([{ at, action, outcome: 'done', tenant_id, subject, target, trace_id, detail: { ...detail } }])
  })
}

/** The site role's database, made when it is missing; a daemon may have it open. */
export async function withSiteFile<T>(
  folder: SiteFolder,
  env: Environment,
  use: (file: SqliteFile, audit: SqliteAudit) => Promise<T>,
): Promise<T> {
  const { platform } = siteSettings(folder, env)
  const file = sqliteFile({ file: databaseOf(folder, 'site'), addonDir: runFolder(folder, 'site') })
  try {
    return await use(file, sqliteAudit(file, writerOf('site', platform.name)))
  } finally {
    await file.close()
  }
}
