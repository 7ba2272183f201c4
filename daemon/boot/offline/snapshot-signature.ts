// Who signed a snapshot, and for whom: the pinned peer that it says it is of, for this site, by enough keys that were good then.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { isRefused } from '../../kernel/errors.ts'
import type { Jws, Verified } from '../../kernel/keys.ts'
import { translated } from '../../kernel/label-map.ts'
import type { Peer } from '../../kernel/peer.ts'
import { type Manifest, manifest } from '../../roles/resolution/snapshot/model.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

export type Signed = {
  readonly manifest: Manifest
  readonly envelope: Jws
  readonly peer: Peer
  /** What this site counts as for releasability. */
  readonly names: readonly string[]
}

/** Throws `Objection`: 5 for what no pinned peer has signed, 3 for what is not for this site or may not come in. */
export async function signedFor(folder: SiteFolder, env: Environment, envelope: Jws): Promise<Signed> {
  const { resolved, platform, labels } = siteSettings(folder, env)
  // Only who is asked follows from what is not verified yet; that peer's pinned keys decide.
  const claimed = manifestIn(Buffer.from(envelope.payload, 'base64url'))
  const peer = claimed && (await peerFiles(folder.peers).get(claimed.from))
  if (!peer) throw unsigned()
  const keys = peer.keys.filter(({ use }) => use === 'message')
  const found = await verifyJws('registry', envelope, keys)
  if (typeof found === 'string' || found.keys.length < peer.threshold) throw unsigned()
  const said = manifestIn(found.payload)
  if (!said || !areInTime(said, found)) throw unsigned()
  if (said.to !== platform.name) throw new Objection(3, `it was made for ${said.to}, not for this site`)
  if (said.tenant_id !== peer.tenant_id) {
    throw new Objection(3, `it is of another tenant than the one that ${peer.name} is pinned with`)
  }
  const label = translated(said.label, peer.label_map, labels)
  if (isRefused(label)) throw new Objection(3, `${label.message}: nothing was taken in`)
  const { releasable_names } = valuesOf(resolved, filedropSettings)
  return { manifest: said, envelope, peer, names: [platform.tenant_id, ...releasable_names] }
}

function unsigned(): Objection {
  return new Objection(
    5,
    'no pinned peer has signed it: nothing was taken in',
    '`platform peers list` shows who is pinned',
  )
}

function manifestIn(payload: Uint8Array): Manifest | undefined {
  try {
    return manifest.safeParse(JSON.parse(Buffer.from(payload).toString('utf8'))).data
  } catch {
    return undefined
  }
}

/** No key signs after its own end. */
function areInTime({ made_at }: Manifest, { keys }: Verified): boolean {
  return keys.every(({ not_after }) => not_after === undefined || Date.parse(made_at) <= Date.parse(not_after))
}
