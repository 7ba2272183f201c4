// Peers as pinned at enrolment: one private file each, so that what the site trusts can be read and carried by hand.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type Peer, type Peers, peer } from '../../../daemon/kernel/identity/peer.ts'
import { listRecordNames, readRecord, removeRecord, writeRecord } from './record-files.ts'

const peerFilePattern = /^[a-z0-9][a-z0-9-]{0,62}\.json$/

/** Coarsest step of a file system's clock: a file changed twice within one shows the same time for both. */
const timestamp_step_ms = 2_000

export interface PeerFiles extends Peers {
  /** Pins a peer; throws an Error when one of that name is pinned already, unless it is to be replaced. Durable. */
  add(given: Peer, options?: { readonly replace?: boolean }): Promise<void>
  /** Whether there was such a peer. Durable. */
  remove(name: string): Promise<boolean>
}

type CachedPeer = { readonly stamp: string; readonly settled: boolean; readonly value: Peer }

/**
 * The peers in this folder, by name. Each look costs one `stat` a peer and reads only the files that changed. Throws
 * an Error with its remedy for a file that others may read or that is not a peer: one bad pin stops all, since to leave
 * it out would silently change whom the site trusts.
 */
export function peerFiles(dir: string): PeerFiles {
  const held = new Map<string, CachedPeer>()

  const look = (): Peer[] => {
    const names = listRecordNames(dir, peerFilePattern, 'peer')
    for (const known of held.keys()) if (!names.includes(known)) held.delete(known)
    return names.flatMap((name) => {
      const path = join(dir, name)
      const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
      if (!stat) return []
      const stamp = `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`
      const known = held.get(name)
      if (known?.settled && known.stamp === stamp) return [known.value]
      // The wall clock, not an injected one: it is compared with the times of the file system.
      const settled = Math.abs(Date.now() - Number(stat.ctimeMs)) > timestamp_step_ms
      const value = readPeer(path, name)
      held.set(name, { stamp, settled, value })
      return [value]
    })
  }

  return {
    list: async () => look(),
    get: async (name) => look().find((each) => each.name === name),
    async add(given, { replace = false } = {}) {
      const pinned = peer.parse(given)
      const names = listRecordNames(dir, peerFilePattern, 'peer')
      if (!replace && names.includes(`${pinned.name}.json`)) throw new Error(`${pinned.name} is pinned already`)
      writeRecord(dir, `${pinned.name}.json`, pinned)
    },
    async remove(name) {
      if (!listRecordNames(dir, peerFilePattern, 'peer').includes(`${name}.json`)) return false
      removeRecord(dir, `${name}.json`)
      return true
    },
  }
}

function readPeer(path: string, name: string): Peer {
  const read = readRecord(path, peer)
  if (read && `${read.name}.json` === name) return read
  throw new Error(
    `${path} is not the peer that it is named after; restore it from a backup, or remove the file and enrol the peer again: platform peers add NAME --keys FILE --tenant TENANT --ceiling LEVEL`,
  )
}
