// Peers for commands: read from key files, pinned with their channel folders, and removed.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { findAccreditationFault } from '../../boot/links/accredited-peers.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { lockPeer } from '../../boot/storage/wait-for-lock.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { type Peer, peer } from '../../kernel/identity/peer.ts'
import { completeLabel } from '../../kernel/label/label.ts'
import { repinPeer } from '../../roles/site/keyset/peer-keys.ts'
import { pinKeySet, type VerifiedKeySet } from '../../shared/key-set/key-succession.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { enrolChannels } from '../filedrop/filedrop-files.ts'
import { parseKeySetFile, verifyNewestKeySet } from '../keys/key-set-file.ts'
import { parseJwks } from '../keys/site-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { parseLabelMap } from './label-map-file.ts'

/** Uses of keys to pin: token keys of a peer are not needed here, and revoked keys are never pinned. */
const pinnedUses: ReadonlySet<PublicKey['use']> = new Set(['message', 'root', 'personal'])

/** `set`: the keys belong to a key set, and are pinned as a whole. */
export type PinnableKeys = { readonly keys: readonly PublicKey[]; readonly set?: VerifiedKeySet }

/**
 * Reads the pinnable keys of a file of `keys export` or `keys set show`. Throws `OfflineCommandError` if it has no
 * message key, and for a key set that its own root keys have not signed.
 */
export async function readPinnableKeys(text: string): Promise<PinnableKeys> {
  const sets = parseKeySetFile(text)
  if (!sets) return { keys: requirePinnableKeys(text) }
  const newest = await verifyNewestKeySet(sets)
  return { keys: newest.set.keys.filter(({ status }) => status !== 'revoked'), set: newest }
}

function requirePinnableKeys(text: string): PublicKey[] {
  const keys = parseJwks(text).filter((key) => pinnedUses.has(key.use) && key.status !== 'revoked')
  if (!keys.some(({ use, status }) => use === 'message' && status === 'active')) {
    throw new OfflineCommandError(
      2,
      'the file contains no active message key, which is needed to verify messages of this peer',
    )
  }
  return keys
}

export type NewPeer = {
  readonly name: string
  readonly tenant_id: string
  readonly keys: readonly PublicKey[]
  readonly ceiling: { readonly level: string; readonly categories: readonly string[] }
  readonly releasable_names: readonly string[]
  /** Text of the label map file; see `parseLabelMap`. */
  readonly label_map?: string | undefined
  /** If given, its thresholds replace the two below. */
  readonly key_set?: VerifiedKeySet | undefined
  readonly threshold: number | undefined
  readonly root_threshold?: number | undefined
  readonly not_after_days: number | undefined
  readonly inventory_interval_s: number | undefined
  readonly keep_days?: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Pins the peer and creates its channel folders. Throws `OfflineCommandError` for a name that is pinned, is the site's
 * own, or is not valid.
 */
export async function addPeer(folder: SiteFolder, env: EnvironmentVariables, newPeer: NewPeer): Promise<Peer> {
  const pinned = buildPeer(folder, env, newPeer)
  const files = peerFiles(folder.peers)
  if (await files.get(pinned.name)) {
    throw new OfflineCommandError(
      3,
      `${pinned.name} is pinned already`,
      `to pin other keys, run \`platform peers remove ${pinned.name}\` first`,
    )
  }
  // The channel first: a pinned peer without a channel would be an alarm, a channel without a peer is merely unused.
  await enrolChannels(folder, env, pinned)
  await files.add(pinned)
  const fingerprints = pinned.keys.map((key) => key.fingerprint)
  const detail = { fingerprints, ...(pinned.key_set ? { key_set: pinned.key_set.version } : {}) }
  await recordOperatorAction(folder, env, { action: 'site.peer.add', target: pinned.name, detail })
  return pinned
}

/** Lists peers by name. */
export async function listPeers(folder: SiteFolder): Promise<Peer[]> {
  return await peerFiles(folder.peers).list()
}

/** Throws `OfflineCommandError` (1) if the peer is not pinned. */
export async function getPeer(folder: SiteFolder, name: string): Promise<Peer> {
  const pinnedPeer = await peerFiles(folder.peers).get(name)
  if (!pinnedPeer)
    throw new OfflineCommandError(1, `the peer ${name} is not pinned`, '`platform peers list` lists the peers')
  return pinnedPeer
}

/**
 * Lists peers whose channels the current profile does not permit, with reason and remedy. `now` in epoch milliseconds.
 */
export function listUnaccreditedPeers(
  folder: SiteFolder,
  env: EnvironmentVariables,
  names: readonly string[],
  now: number,
) {
  const { resolved } = readSiteSettings(folder, env)
  return names.flatMap((peer) => {
    const fault = findAccreditationFault(peer, resolved, now)
    const remedy = `set site.accreditations.${peer} {authority, reference, valid_until} in ${folder.profile}, then restart`
    return fault ? [{ peer, fault, remedy }] : []
  })
}

/**
 * Unpins a peer at once; its channel folders and their record stay, for audit. Nothing is sent to the peer once it
 * resolves. Throws `OfflineCommandError` (3) if a running site cannot be made to stop sending.
 */
export async function removePeer(folder: SiteFolder, env: EnvironmentVariables, name: string): Promise<void> {
  await getPeer(folder, name)
  await peerFiles(folder.peers).remove(name)
  await recordOperatorAction(folder, env, { action: 'site.peer.remove', target: name })
  try {
    const lock = await lockPeer(folder, name)
    lock.release()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new OfflineCommandError(
      3,
      `${name} is removed; ${error.message}`,
      'stop the site, so that none of its messages leave',
    )
  }
}

function buildPeer(folder: SiteFolder, env: EnvironmentVariables, newPeer: NewPeer): Peer {
  const { platform, labels } = readSiteSettings(folder, env)
  if (newPeer.name === platform.name)
    throw new OfflineCommandError(2, `${newPeer.name} is the name of this site; a peer needs another name`)
  const ceiling = completeLabel(
    { ...newPeer.ceiling, categories: [...newPeer.ceiling.categories] },
    labels,
    platform.tenant_id,
  )
  if (!ceiling) {
    throw new OfflineCommandError(
      2,
      `the profile has no level "${newPeer.ceiling.level}"; the levels are ${labels.levels.join(', ')}`,
    )
  }
  const { threshold, root_threshold, not_after_days, inventory_interval_s } = newPeer
  const validation = parseWithSchema(peer, {
    name: newPeer.name,
    tenant_id: newPeer.tenant_id,
    keys: newPeer.keys,
    ceiling,
    ...(newPeer.label_map === undefined ? {} : { label_map: parseLabelMap(newPeer.label_map, labels) }),
    releasable_names: newPeer.releasable_names,
    ...(threshold === undefined ? {} : { threshold }),
    ...(root_threshold === undefined ? {} : { root_threshold }),
    ...(not_after_days === undefined ? {} : { not_after_days }),
    ...(inventory_interval_s === undefined ? {} : { inventory_interval_s }),
    ...(newPeer.keep_days === undefined ? {} : { keep_days: newPeer.keep_days }),
    enrolled: new Date(newPeer.now).toISOString(),
  })
  if (!validation.success)
    throw new OfflineCommandError(2, `the peer cannot be pinned: ${formatFieldErrors(validation.errors)}`)
  return newPeer.key_set ? applyKeySet(validation.data, newPeer.key_set) : validation.data
}

function applyKeySet(pinned: Peer, newest: VerifiedKeySet): Peer {
  const { site, tenant_id } = newest.set
  if (site !== pinned.name || tenant_id !== pinned.tenant_id) {
    throw new OfflineCommandError(3, `the key set belongs to ${site} of tenant ${tenant_id}, not to the peer named`)
  }
  const repinned = repinPeer(pinned, { pinned: pinKeySet(newest.set, newest.digest), sets: [newest] })
  if (isRefusal(repinned)) throw new OfflineCommandError(3, repinned.message)
  return repinned
}
