// Dismisses an item of the quarantine: the decision and its audit record first, then the files.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import { peer as pinned } from '../../../../daemon/kernel/identity/peer.ts'
import { syncFolder } from '../../../platform/durable-file/sync-folder.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { channelFolderPaths, channelName } from '../files/channel-folders.ts'
import { descriptorPath, openFolder } from '../files/pinned-folders.ts'
import { groupByItem } from './quarantine-items.ts'

/** See `Custody.dismiss`. */
export async function dismissItem(
  { root, site, journal }: Pick<FiledropContext, 'root' | 'site' | 'journal'>,
  peer: string,
  id: string,
  audit: readonly AuditEvent[],
): Promise<Refusal | undefined> {
  const notThere = refuse('not_found', 'the item is not in quarantine')
  if (!pinned.shape.name.safeParse(peer).success) return notThere
  // Open while its files are removed, so that nothing behind a link is.
  const opened = openFolder(join(root, peer), channelFolderPaths.quarantine)
  if (typeof opened === 'string') return notThere
  try {
    const folder = descriptorPath(opened.descriptor)
    const names = groupByItem(fs.readdirSync(folder)).get(id)
    if (!names) return notThere
    if ((await journal.dismiss(channelName(peer, site), id, audit)) === 'released')
      return refuse('conflict', 'two people have released the item, and the next scan takes it in')
    return await removeItem(folder, id, names)
  } finally {
    fs.closeSync(opened.descriptor)
  }
}

/**
 * Removes the files of an item, its reason last: as long as it is there, a repeat finishes the work. A file that only
 * another user can remove is a `conflict`.
 */
async function removeItem(folder: string, id: string, names: readonly string[]): Promise<Refusal | undefined> {
  const reason = `${id}.reason.json`
  for (const name of [...names.filter((each) => each !== reason), reason]) {
    try {
      await fs.promises.rm(join(folder, name), { recursive: true, force: true })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EBUSY') throw error
      return refuse('conflict', `${name} cannot be removed (${code}): change its owner, or unmount it, and repeat`)
    }
  }
  syncFolder(folder)
  return undefined
}
