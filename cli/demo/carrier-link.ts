// The carrier between the demo's sites: copies what one site has made ready into what the other takes in, one way a link.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { SiteFolder } from '../../daemon/offline/offline.ts'

export type CarrierLink = {
  /** `out/ready` of the sender. */
  readonly from: string
  /** `in/new` of the receiver. */
  readonly to: string
  /** Where the carrier keeps what it has carried, for inspection. */
  readonly archive: string
}

export function createCarrierLink(
  from: SiteFolder,
  sender: string,
  to: SiteFolder,
  receiver: string,
  kept: string,
): CarrierLink {
  fs.mkdirSync(kept, { recursive: true, mode: 0o700 })
  return {
    from: join(from.filedrop, receiver, 'out', 'ready'),
    to: join(to.filedrop, sender, 'in', 'new'),
    archive: kept,
  }
}

/**
 * Carries what is ready: a body before its envelope, since an envelope says that its message is complete. A file is
 * copied under a name that the receiver leaves alone and then renamed. How many messages were carried.
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
