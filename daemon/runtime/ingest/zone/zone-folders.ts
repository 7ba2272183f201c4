// The folders of a landing zone, and the names of files in them.

import { join } from 'node:path'
import { safeFolderName } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import type { NumberedFile, ZonePlace } from '../../../roles/ingest/landing-zone/zone-files.ts'

export const zone_folder_names = ['new', 'work', 'done', 'quarantine', 'receipts'] as const
export type ZoneFolders = Readonly<Record<(typeof zone_folder_names)[number], string>>

export function zoneFolders(root: string, { tenant_id, pipeline }: ZonePlace): ZoneFolders {
  const home = join(root, safeFolderName(tenant_id), pipeline)
  return {
    new: join(home, 'new'),
    work: join(home, 'work'),
    done: join(home, 'done'),
    quarantine: join(home, 'quarantine'),
    receipts: join(home, 'receipts'),
  }
}

const max_name_bytes = 200

/** Whether a file may keep its name: a person can read and type it, and it has room for the number before it. */
export function isPlainName(name: string): boolean {
  return Buffer.byteLength(name) <= max_name_bytes && /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+@=,-]*$/u.test(name)
}

/** The name of a file that the service has: the numbers of a zone never repeat. */
export function custodyName({ number, name }: Pick<NumberedFile, 'number' | 'name'>): string {
  return `${String(number).padStart(8, '0')}-${isPlainName(name) ? name : 'unnamed'}`
}

/** The receipt of a file that landed has a name that its content decides, and so one that its carrier can look for. */
export function receiptName({ number, name }: Pick<NumberedFile, 'number' | 'name'>, landed_sha256?: string): string {
  const mark = landed_sha256?.slice(0, 16) ?? String(number).padStart(8, '0')
  return `${isPlainName(name) ? name : 'unnamed'}.${mark}.json`
}

/** Files that are still written: by the names that programs for copying use meanwhile, too. */
export function isUnfinished(name: string): boolean {
  return name.startsWith('.') || /(\.(part|tmp|partial|filepart|crdownload)|~)$/i.test(name)
}
