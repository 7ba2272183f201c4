// The pinned keys of a peer for commands: updated from its key set, and revoked by hand.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import {
  earliestKeySetTime,
  pinnedKeySetOf,
  repinPeer,
  revokePeerKey as withRevokedKey,
} from '../../roles/site/keyset/peer-keys.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { followKeySets } from '../../shared/key-set/key-succession.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { parseKeySetFile } from '../keys/key-set-file.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { changePinnedPeer } from './change-pinned-peer.ts'
import { getPeer } from './site-peers.ts'

const signatures = { verify: verifyJws }

/**
 * Updates the keys. Throws `OfflineCommandError` for a file that is not a key set, and for sets that do not follow the
 * pinned one. `now` in epoch milliseconds.
 */
export async function updatePeerKeys(
  folder: SiteFolder,
  env: EnvironmentVariables,
  name: string,
  text: string,
  now: number,
) {
  const sets = parseKeySetFile(text)
  if (!sets)
    throw new OfflineCommandError(
      2,
      'the file is not a key set',
      '`platform keys set show --out FILE` at the other site writes it',
    )
  if (selectUsableKeys((await getPeer(folder, name)).keys, 'root', new Date(now).toISOString()).length === 0) {
    throw new OfflineCommandError(
      3,
      `no root key of ${name} is pinned, so none can vouch for its key set`,
      `compare fingerprints: platform peers remove ${name}, then platform peers add ${name} --keys FILE --tenant TENANT --ceiling LEVEL, with this file`,
    )
  }
  const { trusted_clock } = getSettings(readSiteSettings(folder, env).resolved, filedropSettings)
  let accepted_count = 0
  const peer = await changePinnedPeer(folder, name, async (current) => {
    const result = await followKeySets(pinnedKeySetOf(current), sets, {
      signatures,
      earliest: trusted_clock ? earliestKeySetTime(current, now) : undefined,
    })
    if ('refusal' in result) return result.refusal
    accepted_count = result.sets.length
    const repinned = repinPeer(current, result)
    if (isRefusal(repinned) || accepted_count === 0) return repinned
    const detail = { ...repinned.key_set, threshold: repinned.threshold, root_threshold: repinned.root_threshold }
    await recordOperatorAction(folder, env, { action: 'site.peer.repin', target: name, detail })
    return repinned
  })
  return { peer, taken: accepted_count }
}

/** Finds a key by kid or fingerprint. Throws `OfflineCommandError` (1) if the peer has no such key. */
export async function findPeerKey(folder: SiteFolder, name: string, key: string): Promise<PublicKey> {
  const result = selectPeerKey(await getPeer(folder, name), key)
  if (!result)
    throw new OfflineCommandError(1, `${name} has no key ${key}`, `\`platform peers show ${name}\` lists its keys`)
  return result
}

/** Revokes a key; `left` is the number of valid message keys. Throws as `findPeerKey` does. */
export async function revokePeerKey(folder: SiteFolder, env: EnvironmentVariables, name: string, key: string) {
  const { fingerprint, kid } = await findPeerKey(folder, name, key)
  const peer = await changePinnedPeer(folder, name, async (current) => {
    if (selectPeerKey(current, key)?.fingerprint !== fingerprint)
      return refuse('not_found', `${name} has no key ${key} any more`)
    await recordOperatorAction(folder, env, { action: 'site.peer.revoke', target: name, detail: { kid, fingerprint } })
    return withRevokedKey(current, fingerprint)
  })
  return { peer, left: selectUsableKeys(peer.keys, 'message', new Date().toISOString()).length }
}

function selectPeerKey({ keys }: Peer, kidOrFingerprint: string): PublicKey | undefined {
  return keys.find(({ kid, fingerprint }) => kid === kidOrFingerprint || fingerprint === kidOrFingerprint)
}
