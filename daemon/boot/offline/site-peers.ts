// Peers for commands: what would be pinned, pinning it with its channel folders, and letting go again.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { isRefused } from '../../kernel/errors.ts'
import { pinnedBy, type Verified } from '../../kernel/key-succession.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import { labelOf } from '../../kernel/label.ts'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import { type Peer, peer } from '../../kernel/peer.ts'
import { repinned } from '../../kernel/peer-keys.ts'
import { accreditationFault } from '../accredited-peers.ts'
import { holdPeer } from '../patient-lock.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { enrolChannels } from './filedrop-files.ts'
import { newestIn, setsIn } from './key-set-file.ts'
import { labelMapIn } from './label-map-file.ts'
import { Objection } from './objection.ts'
import { keysIn } from './site-keys.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** What a peer signs with: its token keys are its own affair, and a revoked key is nobody's. */
const pinnedUses: ReadonlySet<PublicKey['use']> = new Set(['message', 'root', 'personal'])

/** `set`: the keys are of a key set, and are pinned as a whole. */
export type Pinnable = { readonly keys: readonly PublicKey[]; readonly set?: Verified }

/**
 * What may be pinned of a file that `keys export` or `keys set show` made. Throws `Objection` when there is no message key
 * in it, and for a key set that its own root keys have not signed.
 */
export async function pinnable(text: string): Promise<Pinnable> {
  const sets = setsIn(text)
  if (!sets) return { keys: pinnableKeys(text) }
  const newest = await newestIn(sets)
  return { keys: newest.set.keys.filter(({ status }) => status !== 'revoked'), set: newest }
}

function pinnableKeys(text: string): PublicKey[] {
  const keys = keysIn(text).filter((key) => pinnedUses.has(key.use) && key.status !== 'revoked')
  if (!keys.some(({ use, status }) => use === 'message' && status === 'active')) {
    throw new Objection(2, 'the file holds no active message key, so nothing of this peer could be verified')
  }
  return keys
}

export type NewPeer = {
  readonly name: string
  readonly tenant_id: string
  readonly keys: readonly PublicKey[]
  readonly ceiling: { readonly level: string; readonly categories: readonly string[] }
  readonly releasable_names: readonly string[]
  /** The text of the file that holds it; see `labelMapIn`. */
  readonly label_map?: string | undefined
  /** The two thresholds of the set count instead of these. */
  readonly key_set?: Verified | undefined
  readonly threshold: number | undefined
  readonly root_threshold?: number | undefined
  readonly not_after_days: number | undefined
  readonly inventory_interval_s: number | undefined
  readonly keep_days?: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** Pins the peer and makes its channel folders. Throws `Objection` for a name that is pinned, the site's own, or unfit. */
export async function add(folder: SiteFolder, env: Environment, given: NewPeer): Promise<Peer> {
  const pinned = peerOf(folder, env, given)
  const files = peerFiles(folder.peers)
  if (await files.get(pinned.name)) {
    throw new Objection(
      3,
      `${pinned.name} is pinned already`,
      `platform peers remove ${pinned.name}, to pin other keys`,
    )
  }
  // The channel first: a pinned peer without one would be an alarm, a channel without a peer is only not used.
  await enrolChannels(folder, env, pinned)
  await files.add(pinned)
  const fingerprints = pinned.keys.map((key) => key.fingerprint)
  const detail = { fingerprints, ...(pinned.key_set ? { key_set: pinned.key_set.version } : {}) }
  await record(folder, env, { action: 'site.peer.add', target: pinned.name, detail })
  return pinned
}

/** By name. */
export async function list(folder: SiteFolder): Promise<Peer[]> {
  return await peerFiles(folder.peers).list()
}

/** Throws `Objection` (1) when there is none. */
export async function get(folder: SiteFolder, name: string): Promise<Peer> {
  const found = await peerFiles(folder.peers).get(name)
  if (!found) throw new Objection(1, `there is no peer ${name}`, '`platform peers list` shows those there are')
  return found
}

/** Those of the peers whose channels may not be used as the profile stands: why, and what to do. `now` in epoch milliseconds. */
export function unaccredited(folder: SiteFolder, env: Environment, names: readonly string[], now: number) {
  const { resolved } = siteSettings(folder, env)
  return names.flatMap((peer) => {
    const fault = accreditationFault(peer, resolved, now)
    const remedy = `set site.accreditations.${peer} {authority, reference, valid_until} in ${folder.profile}, then restart`
    return fault ? [{ peer, fault, remedy }] : []
  })
}

/**
 * Unpins at once; the channel folders and their record stay, for audit. Nothing leaves for the peer any more when it
 * resolves; throws `Objection` (3) when a running site cannot be brought to that.
 */
export async function remove(folder: SiteFolder, env: Environment, name: string): Promise<void> {
  await get(folder, name)
  await peerFiles(folder.peers).remove(name)
  await record(folder, env, { action: 'site.peer.remove', target: name })
  try {
    const lock = await holdPeer(folder, name)
    lock.release()
  } catch (error) {
    if (!isRefused(error)) throw error
    throw new Objection(3, `${name} is removed; ${error.message}`, 'stop the site, so that nothing of them leaves')
  }
}

function peerOf(folder: SiteFolder, env: Environment, given: NewPeer): Peer {
  const { platform, labels } = siteSettings(folder, env)
  if (given.name === platform.name) throw new Objection(2, `${given.name} is this site itself`)
  const ceiling = labelOf({ ...given.ceiling, categories: [...given.ceiling.categories] }, labels, platform.tenant_id)
  if (!ceiling) {
    throw new Objection(2, `there is no level "${given.ceiling.level}"; the profile has ${labels.levels.join(', ')}`)
  }
  const { threshold, root_threshold, not_after_days, inventory_interval_s } = given
  const checked = parseBy(peer, {
    name: given.name,
    tenant_id: given.tenant_id,
    keys: given.keys,
    ceiling,
    ...(given.label_map === undefined ? {} : { label_map: labelMapIn(given.label_map, labels) }),
    releasable_names: given.releasable_names,
    ...(threshold === undefined ? {} : { threshold }),
    ...(root_threshold === undefined ? {} : { root_threshold }),
    ...(not_after_days === undefined ? {} : { not_after_days }),
    ...(inventory_interval_s === undefined ? {} : { inventory_interval_s }),
    ...(given.keep_days === undefined ? {} : { keep_days: given.keep_days }),
    enrolled: new Date(given.now).toISOString(),
  })
  if (!checked.success) throw new Objection(2, `the peer cannot be pinned: ${inOneLine(checked.errors)}`)
  return given.key_set ? withSet(checked.data, given.key_set) : checked.data
}

function withSet(pinned: Peer, newest: Verified): Peer {
  const { site, tenant_id } = newest.set
  if (site !== pinned.name || tenant_id !== pinned.tenant_id) {
    throw new Objection(3, `the key set is that of ${site}, of tenant ${tenant_id}`)
  }
  const done = repinned(pinned, { pinned: pinnedBy(newest.set, newest.digest), sets: [newest] })
  if (isRefused(done)) throw new Objection(3, done.message)
  return done
}
