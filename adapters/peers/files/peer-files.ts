// Peers as pinned at enrolment: one private file each, so that what the site trusts can be read and carried by hand.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type Peer, type Peers, peer } from '../../../daemon/kernel/peer.ts'

const peerFileName = /^[a-z0-9][a-z0-9-]{0,62}\.json$/
const maxPeerFileBytes = 1_048_576

/** Coarsest step of a file system's clock: a file changed twice within one shows the same time for both. */
const coarsestStepMs = 2_000

export interface PeerFiles extends Peers {
  /** Pins a peer; throws an Error when one of that name is pinned already, unless it is to be replaced. Durable. */
  add(given: Peer, options?: { readonly replace?: boolean }): Promise<void>
  /** Whether there was such a peer. Durable. */
  remove(name: string): Promise<boolean>
}

type Held = { readonly stamp: string; readonly settled: boolean; readonly value: Peer }

/**
 * The peers in this folder, by name. Each look costs one `stat` a peer and reads only the files that changed. Throws
 * an Error with its remedy for a file that others may read or that is no peer: one bad pin stops all, since to leave
 * it out would silently change whom the site trusts.
 */
export function peerFiles(dir: string): PeerFiles {
  const held = new Map<string, Held>()

  const look = (): Peer[] => {
    const names = namesIn(dir)
    for (const known of held.keys()) if (!names.includes(known)) held.delete(known)
    return names.flatMap((name) => {
      const path = join(dir, name)
      const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
      if (!stat) return []
      const stamp = `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`
      const known = held.get(name)
      if (known?.settled && known.stamp === stamp) return [known.value]
      // The wall clock, not an injected one: it is compared with the times of the file system.
      const settled = Math.abs(Date.now() - Number(stat.ctimeMs)) > coarsestStepMs
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
      const names = namesIn(dir)
      if (!replace && names.includes(`${pinned.name}.json`)) throw new Error(`${pinned.name} is pinned already`)
      writePeer(dir, pinned)
    },
    async remove(name) {
      if (!namesIn(dir).includes(`${name}.json`)) return false
      fs.unlinkSync(join(dir, `${name}.json`))
      syncFolder(dir)
      return true
    },
  }
}

function namesIn(dir: string): string[] {
  const folder = fs.statSync(dir, { throwIfNoEntry: false })
  if (!folder) return []
  requirePrivate(folder.mode, dir, '700')
  const names = fs.readdirSync(dir).filter((name) => !name.startsWith('.'))
  const stranger = names.find((name) => !peerFileName.test(name))
  if (stranger !== undefined) throw new Error(`${join(dir, stranger)} is no peer file; move it out of the folder`)
  return names.sort()
}

function readPeer(path: string, name: string): Peer {
  const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    const stat = fs.fstatSync(file)
    if (!stat.isFile() || stat.size > maxPeerFileBytes) throw new Error(`${path} is no peer file; move it out`)
    requirePrivate(stat.mode, path, '600')
    const read = peer.safeParse(jsonOf(fs.readFileSync(file, 'utf8')))
    if (read.success && `${read.data.name}.json` === name) return read.data
    throw new Error(`${path} is not the peer that it is named after; enrol it again: platform peers add`)
  } finally {
    fs.closeSync(file)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A crash leaves the old file or the new one, never a part. */
function writePeer(dir: string, pinned: Peer): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  const temporary = join(dir, `.${pinned.name}.${randomBytes(6).toString('hex')}.tmp`)
  const file = fs.openSync(temporary, 'wx', 0o600)
  try {
    fs.writeFileSync(file, `${JSON.stringify(pinned, undefined, 2)}\n`)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
  fs.renameSync(temporary, join(dir, `${pinned.name}.json`))
  syncFolder(dir)
}

function syncFolder(dir: string): void {
  const folder = fs.openSync(dir, 'r')
  try {
    fs.fsyncSync(folder)
  } finally {
    fs.closeSync(folder)
  }
}

function requirePrivate(mode: number, path: string, wanted: string): void {
  if ((mode & 0o077) === 0) return
  throw new Error(`${path} can be read by others; run: chmod ${wanted} ${path}`)
}
