// Refuses a recorded change where the data of the site are missing: a new, empty audit log would hide the loss.
import { existsSync } from 'node:fs'
import { restoreFolder } from '../../../adapters/platform/missing-path/missing-path.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Throws `OfflineCommandError` (3). Called before a change that is recorded, so that nothing changes without a record. */
export function requireDataFolder({ data }: Pick<SiteFolder, 'data'>): void {
  if (!existsSync(data)) throw new OfflineCommandError(3, `${data} is missing`, restoreFolder(data))
}
