// The pinned keys of a peer for commands: brought up to date by its key set, and revoked by hand.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { isRefused, type Refused, refuse } from '../../kernel/errors.ts'
import { standing } from '../../kernel/key-set.ts'
import { follow } from '../../kernel/key-succession.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import type { Peer } from '../../kernel/peer.ts'
import { earliestFor, pinnedOf, repinned, withoutKey } from '../../kernel/peer-keys.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { changePeer } from '../pinned-peers.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { setsIn } from './key-set-file.ts'
import { Objection } from './objection.ts'
import { get } from './site-peers.ts'
import { type Environment, siteSettings } from './site-profile.ts'

const signatures = { verify: verifyJws }

/** Throws `Objection` for a file that is no key set, and for sets that do not follow the pinned one. `now` in epoch milliseconds. */
export async function update(folder: SiteFolder, env: Environment, name: string, text: string, now: number) {
  const sets = setsIn(text)
  if (!sets)
    throw new Objection(2, 'this is no key set file', '`platform keys set show --out FILE` at the other site makes it')
  if (standing((await get(folder, name)).keys, 'root', new Date(now).toISOString()).length === 0) {
    throw new Objection(
      3,
      `no root key of ${name} is pinned, so none can vouch for its key set`,
      `compare fingerprints: platform peers remove ${name}, then platform peers add ${name} with this file`,
    )
  }
  const { trusted_clock } = valuesOf(siteSettings(folder, env).resolved, filedropSettings)
  let taken = 0
  const peer = await changed(folder, name, async (current) => {
    const found = await follow(pinnedOf(current), sets, {
      signatures,
      earliest: trusted_clock ? earliestFor(current, now) : undefined,
    })
    if ('refused' in found) return found.refused
    taken = found.sets.length
    const next = repinned(current, found)
    if (isRefused(next) || taken === 0) return next
    const detail = { ...next.key_set, threshold: next.threshold, root_threshold: next.root_threshold }
    await record(folder, env, { action: 'site.peer.repin', target: name, detail })
    return next
  })
  return { peer, taken }
}

/** By kid or fingerprint. Throws `Objection` (1) when the peer has no such key. */
export async function find(folder: SiteFolder, name: string, key: string): Promise<PublicKey> {
  const found = keyOf(await get(folder, name), key)
  if (!found) throw new Objection(1, `${name} has no key ${key}`, `\`platform peers show ${name}\` shows those it has`)
  return found
}

/** `left`: message keys that count. Throws as `find` does. */
export async function revoke(folder: SiteFolder, env: Environment, name: string, key: string) {
  const { fingerprint, kid } = await find(folder, name, key)
  const peer = await changed(folder, name, async (current) => {
    if (keyOf(current, key)?.fingerprint !== fingerprint)
      return refuse('not_found', `${name} has no key ${key} any more`)
    await record(folder, env, { action: 'site.peer.revoke', target: name, detail: { kid, fingerprint } })
    return withoutKey(current, fingerprint)
  })
  return { peer, left: standing(peer.keys, 'message', new Date().toISOString()).length }
}

function keyOf({ keys }: Peer, named: string): PublicKey | undefined {
  return keys.find(({ kid, fingerprint }) => kid === named || fingerprint === named)
}

async function changed(
  folder: SiteFolder,
  name: string,
  change: (peer: Peer) => Promise<Peer | Refused>,
): Promise<Peer> {
  const found = (await changePeer(folder, name, change)) ?? refuse('not_found', `there is no peer ${name}`)
  if (!isRefused(found)) return found
  throw new Objection(found.code === 'not_found' ? 1 : 3, found.message)
}
