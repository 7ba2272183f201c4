// Peers for commands: read from key files, pinned with their channel folders, and removed.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { withIdentityLock } from '../../boot/identity/token-key-list.ts'
import { findAccreditationFault } from '../../boot/links/accredited-peers.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { lockPeer } from '../../boot/storage/wait-for-lock.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { speakFingerprint } from '../../kernel/cryptography/spoken-fingerprint.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { repinPeer } from '../../roles/site/keyset/peer-keys.ts'
import { pinKeySet, type VerifiedKeySet } from '../../shared/key-set/key-succession.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import { enrolChannels } from '../filedrop/filedrop-files.ts'
import { parseKeySetFile, verifyNewestKeySet } from '../keys/key-set-file.ts'
import { parseJwks } from '../keys/site-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { applyPeerSettings, type PeerSettings } from './peer-settings.ts'

/** Uses of keys to pin: token keys of a peer are not needed here, and revoked keys are never pinned. */
const pinnedUses: ReadonlySet<PublicKey['use']> = new Set(['message', 'root', 'personal'])

/** `set`: the keys belong to a key set, and are pinned as a whole. */
export type PinnableKeys = { readonly keys: readonly PublicKey[]; readonly set?: VerifiedKeySet | undefined }

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

/** The groups of the fingerprint that this site reads aloud for these keys. */
export function speakPinnableKeys(site: string, tenant_id: string, { keys, set }: PinnableKeys): readonly string[] {
  const key_set = set ? { key_set: set.digest } : {}
  return speakFingerprint({ owner: { type: 'site', site, tenant_id, ...key_set }, keys })
}

export type NewPeer = PeerSettings & {
  readonly name: string
  readonly keys: readonly PublicKey[]
  /** If given, its thresholds replace those of the settings. */
  readonly key_set?: VerifiedKeySet | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Pins the peer and creates its channel folders. Throws `OfflineCommandError` for a name that is pinned, is the site's
 * own, or is not valid.
 */
export async function addPeer(folder: SiteFolder, env: EnvironmentVariables, newPeer: NewPeer): Promise<Peer> {
  requireDataFolder(folder)
  const pinned = buildPeer(folder, env, newPeer)
  return await withIdentityLock(folder, async () => {
    const files = peerFiles(folder.peers)
    if (await files.get(pinned.name)) {
      throw new OfflineCommandError(
        3,
        `${pinned.name} is pinned already`,
        `for other settings: platform peers set ${pinned.name}; for other keys: platform peers update ${pinned.name} --keys FILE`,
      )
    }
    // The channel first: a pinned peer without a channel would be an alarm, a channel without a peer is merely unused.
    await enrolChannels(folder, env, pinned)
    await files.add(pinned)
    const fingerprints = pinned.keys.map((key) => key.fingerprint)
    const detail = { fingerprints, ...(pinned.key_set ? { key_set: pinned.key_set.version } : {}) }
    await recordOperatorAction(folder, env, { action: 'site.peer.add', target: pinned.name, detail })
    return pinned
  })
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
  requireDataFolder(folder)
  await withIdentityLock(folder, async () => {
    await getPeer(folder, name)
    await peerFiles(folder.peers).remove(name)
    await recordOperatorAction(folder, env, { action: 'site.peer.remove', target: name })
  })
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
  const { name, keys, key_set, now, ...settings } = newPeer
  const site = readSiteSettings(folder, env)
  if (name === site.platform.name)
    throw new OfflineCommandError(2, `${name} is the name of this site; a peer needs another name`)
  const record = { name, keys: [...keys], enrolled: new Date(now).toISOString() }
  const pinned = applyPeerSettings(site, record, settings, now)
  return key_set ? applyKeySet(pinned, key_set) : pinned
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
