// Finds copies of the site's data that still hold a purged body: a purge does not change them, so people must.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { copyContains } from '../../../adapters/store/sqlite/journal-copies.ts'
import type { AuditLog } from '../../kernel/audit/audit-chain.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { BackupCopies, BackupCopy } from '../../roles/site/parts.ts'
import { siteOwner } from '../host/site-owner.ts'
import { roleDataFolder, roleRunFolder, type SiteFolder } from '../storage/site-folder.ts'
import { backupSetsFolder, databaseFileName } from './backup-set.ts'

/**
 * Copies of the journal, which the site role keeps: bodies that wait to be sent are in it. Those that people made elsewhere
 * are known by the audit chain; nothing that lies where others may write is opened here.
 */
export function backupCopies(
  folder: SiteFolder,
  resolved: ResolvedSettings,
  audit: Pick<AuditLog, 'list'>,
): BackupCopies {
  return {
    async holding(digests) {
      const wanted = new Set(digests)
      const kept = listFolders(roleDataFolder(folder, siteOwner)).filter((dir) => dir.includes('before-restore-'))
      const sets = new Set([
        ...listFolders(backupSetsFolder(folder, resolved)),
        ...listFolders(join(folder.data, 'backups')),
        ...kept,
      ])
      const copies = [...sets].filter((dir) => fs.existsSync(join(dir, databaseFileName(siteOwner))))
      const here = copies
        .map((dir) => inspectCopy(dir, roleRunFolder(folder, siteOwner), wanted))
        .filter(({ holds }) => holds !== 'no')
      const elsewhere = (await listManualBackups(audit)).filter(({ dir }) => !sets.has(dir))
      return [...here, ...elsewhere.map(({ dir, at }) => ({ name: `${dir}, of ${at}`, holds: 'unknown' as const }))]
    },
  }
}

/** The newest; one for each folder. */
async function listManualBackups(audit: Pick<AuditLog, 'list'>): Promise<{ dir: string; at: string }[]> {
  const records = await audit.list({ action: 'site.store.backup', limit: max_records })
  const made = records.flatMap(({ event }) => (event ? [{ dir: event.target, at: event.at }] : []))
  return made.filter(({ dir }, index) => made.findIndex((each) => each.dir === dir) === index)
}

const max_records = 100

/** A copy that cannot be read counts as unknown. */
function inspectCopy(dir: string, addonDir: string, wanted: ReadonlySet<string>): BackupCopy {
  const name = join(basename(dirname(dir)), basename(dir))
  try {
    return { name, holds: copyContains(join(dir, databaseFileName(siteOwner)), addonDir, wanted) ? 'yes' : 'no' }
  } catch {
    return { name, holds: 'unknown' }
  }
}

function listFolders(dir: string): string[] {
  if (!fs.existsSync(dir)) return []
  const entries = fs.readdirSync(dir, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name))
}
