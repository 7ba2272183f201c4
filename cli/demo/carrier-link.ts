// The carrier between the demo's sites: copies ready messages of one site into the inbox of the other; one link for each direction.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { SiteFolder } from '../../daemon/offline/offline.ts'

export type CarrierLink = {
  /** `out/ready` of the sender. */
  readonly from: string
  /** `in/new` of the receiver. */
  readonly to: string
  /** Folder of carried files, kept for inspection. */
  readonly archive: string
}

export function createCarrierLink(
  from: SiteFolder,
  sender: string,
  to: SiteFolder,
  receiver: string,
  archive: string,
): CarrierLink {
  fs.mkdirSync(archive, { recursive: true, mode: 0o700 })
  return {
    from: join(from.filedrop, receiver, 'out', 'ready'),
    to: join(to.filedrop, sender, 'in', 'new'),
    archive,
  }
}

/**
 * Carries ready messages: a body before its envelope, since an envelope marks its message as complete. A file is copied
 * under a name that the receiver ignores, and then renamed. Returns the number of messages.
 */
export function carryMessages({ from, to, archive }: CarrierLink): number {
  const names = fs
    .readdirSync(from)
    .filter((name) => name.endsWith('.json'))
    .sort()
  for (const name of names) {
    fs.copyFileSync(join(from, name), join(to, `.${name}.part`))
    fs.renameSync(join(to, `.${name}.part`), join(to, name))
    fs.renameSync(join(from, name), join(archive, name))
  }
  return names.filter((name) => name.endsWith('.env.json')).length
}
