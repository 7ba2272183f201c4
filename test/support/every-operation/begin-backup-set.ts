// A backup as the site role begins it, for those who ask a role for its share.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { SiteFolder } from '../../../daemon/boot/storage/site-folder.ts'

/** The folder of the set, made where it is missing, with these files in it. */
export function beginBackupSet(folder: SiteFolder, set: string, ...files: readonly string[]): string {
  const draft = path.join(folder.data, 'backups', `.${set}.part`)
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  for (const file of files) writeFileSync(path.join(draft, file), 'from elsewhere')
  return draft
}
