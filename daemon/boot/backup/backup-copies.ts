// Finds copies of the site's data that still contain a body: a purge cannot change them, so people must.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { copyContains } from '../../../adapters/store/sqlite/journal/journal-copies.ts'
import type { AuditLog } from '../../kernel/audit/audit-chain.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { BackupCopies, BackupCopy } from '../../roles/site/parts.ts'
import { siteOwner } from '../host/site-owner.ts'
import { roleDataFolder, roleRunFolder, type SiteFolder } from '../storage/site-folder.ts'
import { backupSetsFolder, databaseFileName } from './backup-set.ts'

/**
 * Searches copies of the site role's journal, which contains bodies that wait to be sent. The audit chain lists backups
 * that people made elsewhere; those are not opened, since other users may write there.
 */
export function backupCopies(
  folder: SiteFolder,
  resolved: ResolvedSettings,
  audit: Pick<AuditLog, 'list'>,
): BackupCopies {
  return {
    async holding(digests) {
      const digestSet = new Set(digests)
      const replacedData = listFolders(roleDataFolder(folder, siteOwner)).filter((dir) =>
        dir.includes('before-restore-'),
      )
      const sets = new Set([
        ...listFolders(backupSetsFolder(folder, resolved)),
        ...listFolders(join(folder.data, 'backups')),
        ...replacedData,
      ])
      const copies = [...sets].filter((dir) => fs.existsSync(join(dir, databaseFileName(siteOwner))))
      const found = copies
        .map((dir) => inspectCopy(dir, roleRunFolder(folder, siteOwner), digestSet))
        .filter(({ holds }) => holds !== 'no')
      const manualBackups = (await listManualBackups(audit)).filter(({ dir }) => !sets.has(dir))
      return [
        ...found,
        ...manualBackups.map(({ dir, at }) => ({ name: `${dir}, of ${at}`, holds: 'unknown' as const })),
      ]
    },
  }
}

/** The newest backup of each folder. */
async function listManualBackups(audit: Pick<AuditLog, 'list'>): Promise<{ dir: string; at: string }[]> {
  const records = await audit.list({ action: 'site.store.backup', limit: max_records })
  const backups = records.flatMap(({ event }) => (event ? [{ dir: event.target, at: event.at }] : []))
  return backups.filter(({ dir }, index) => backups.findIndex((candidate) => candidate.dir === dir) === index)
}

const max_records = 100

/** Searches one copy; an unreadable one may hold the body, so its answer is unknown. */
function inspectCopy(dir: string, addonDir: string, digestSet: ReadonlySet<string>): BackupCopy {
  const name = join(basename(dirname(dir)), basename(dir))
  try {
    return { name, holds: copyContains(join(dir, databaseFileName(siteOwner)), addonDir, digestSet) ? 'yes' : 'no' }
  } catch {
    return { name, holds: 'unknown' }
  }
}

function listFolders(dir: string): string[] {
  if (!fs.existsSync(dir)) return []
  const entries = fs.readdirSync(dir, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name))
}
