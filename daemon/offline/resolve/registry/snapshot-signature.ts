// Verifies the signature of a snapshot: by the pinned peer that it names, for this site, with enough keys valid at that time.
import { verifyJws } from '../../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../../adapters/peers/files/peer-files.ts'
import { getSettings } from '../../../boot/profile.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Jws, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import { translateLabel } from '../../../kernel/label/label-map.ts'
import { type SnapshotManifest, snapshotManifest } from '../../../roles/resolution/snapshot/model.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'

export type VerifiedSnapshot = {
  readonly manifest: SnapshotManifest
  readonly envelope: Jws
  readonly peer: Peer
  /** Names under which data may be releasable to this site. */
  readonly names: readonly string[]
}

/** Throws `OfflineCommandError`: 5 unless a pinned peer has signed it, 3 if it is for another site or has a label not admitted here. */
export async function verifySnapshotSignature(
  folder: SiteFolder,
  env: EnvironmentVariables,
  envelope: Jws,
): Promise<VerifiedSnapshot> {
  const { resolved, platform, labels } = readSiteSettings(folder, env)
  // The unverified manifest only selects the peer, whose pinned keys then verify it.
  const unverified = parseManifest(Buffer.from(envelope.payload, 'base64url'))
  const peer = unverified && (await peerFiles(folder.peers).get(unverified.from))
  if (!peer) throw unsignedSnapshotError()
  const keys = peer.keys.filter(({ use }) => use === 'message')
  const verified = await verifyJws('registry', envelope, keys)
  if (typeof verified === 'string' || verified.keys.length < peer.threshold) throw unsignedSnapshotError()
  const manifest = parseManifest(verified.payload)
  if (!manifest || !wereKeysInForce(manifest, verified)) throw unsignedSnapshotError()
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

function parseManifest(payload: Uint8Array): SnapshotManifest | undefined {
  try {
    return snapshotManifest.safeParse(JSON.parse(Buffer.from(payload).toString('utf8'))).data
  } catch {
    return undefined
  }
}

/** Whether the snapshot was made before the end of each signing key. */
function wereKeysInForce({ made_at }: SnapshotManifest, { keys }: VerifiedPayload): boolean {
  return keys.every(({ not_after }) => not_after === undefined || Date.parse(made_at) <= Date.parse(not_after))
}
