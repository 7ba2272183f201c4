// Who signed a snapshot, and for whom: the pinned peer that it says it is of, for this site, by enough keys that were good then.

import { verifyJws } from '../../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../../adapters/peers/files/peer-files.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Jws, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import { translateLabel } from '../../../kernel/label/label-map.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { type SnapshotManifest, snapshotManifest } from '../../../roles/resolution/snapshot/model.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'

export type VerifiedSnapshot = {
  readonly manifest: SnapshotManifest
  readonly envelope: Jws
  readonly peer: Peer
  /** What this site counts as for releasability. */
  readonly names: readonly string[]
}

/** Throws `OfflineCommandError`: 5 for what no pinned peer has signed, 3 for what is not for this site or may not come in. */
export async function verifySnapshotSignature(
  folder: SiteFolder,
  env: EnvironmentVariables,
  envelope: Jws,
): Promise<VerifiedSnapshot> {
  const { resolved, platform, labels } = readSiteSettings(folder, env)
  // The unverified manifest selects only the peer; the pinned keys of that peer decide.
  const claimed = parseJsonAs(snapshotManifest, Buffer.from(envelope.payload, 'base64url'))
  const peer = claimed && (await peerFiles(folder.peers).get(claimed.from))
  if (!peer) throw unsignedSnapshotError()
  const keys = peer.keys.filter(({ use }) => use === 'message')
  const found = await verifyJws('registry', envelope, keys)
  if (typeof found === 'string' || found.keys.length < peer.threshold) throw unsignedSnapshotError()
  const manifest = parseJsonAs(snapshotManifest, found.payload)
  if (!manifest || !wereKeysInForce(manifest, found)) throw unsignedSnapshotError()
  if (manifest.to !== platform.name)
    throw new OfflineCommandError(3, `the snapshot was made for ${manifest.to}, not for this site`)
  if (manifest.tenant_id !== peer.tenant_id) {
    throw new OfflineCommandError(3, `the snapshot has another tenant than the pinned one of ${peer.name}`)
  }
  const label = translateLabel(manifest.label, peer.label_map, labels)
  if (isRefusal(label)) throw new OfflineCommandError(3, `${label.message}: nothing was imported`)
  const { releasable_names } = getSettings(resolved, filedropSettings)
  return { manifest, envelope, peer, names: [platform.tenant_id, ...releasable_names] }
}

function unsignedSnapshotError(): OfflineCommandError {
  return new OfflineCommandError(
    5,
    'the snapshot is not signed by a pinned peer: nothing was imported',
    '`platform peers list` lists the pinned peers',
  )
}

/** No key signs after its own end. */
function wereKeysInForce({ made_at }: SnapshotManifest, { keys }: VerifiedPayload): boolean {
  return keys.every(({ not_after }) => not_after === undefined || Date.parse(made_at) <= Date.parse(not_after))
}
