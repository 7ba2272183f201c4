// Verifies that a snapshot is signed by the pinned peer that it names, for this site, with enough keys valid at the time.
import { verifyJws } from '../../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../../adapters/peers/files/peer-files.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { findSignerFault } from '../../../kernel/cryptography/counting-signers.ts'
import type { Jws, PublicKey } from '../../../kernel/cryptography/signatures.ts'
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
  /** Names of this site in `releasable_to`. */
  readonly names: readonly string[]
}

/** Throws `OfflineCommandError`: 5 without a signature of a pinned peer, 3 if the snapshot is for another site or not releasable. */
export async function verifySnapshotSignature(
  folder: SiteFolder,
  env: EnvironmentVariables,
  envelope: Jws,
): Promise<VerifiedSnapshot> {
  const { resolved, platform, labels } = readSiteSettings(folder, env)
  // The unverified payload only selects the peer; that peer's pinned keys decide.
  const claimed = parseJsonAs(snapshotManifest, Buffer.from(envelope.payload, 'base64url'))
  const peer = claimed && (await peerFiles(folder.peers).get(claimed.from))
  if (!peer) throw unsignedSnapshotError()
  const manifest = await verifySnapshotManifest(envelope, peer)
  if (!manifest) throw unsignedSnapshotError()
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

/** The manifest that enough message keys of the site signed; undefined otherwise. */
export async function verifySnapshotManifest(
  envelope: Jws,
  { keys, threshold }: { readonly keys: readonly PublicKey[]; readonly threshold: number },
): Promise<SnapshotManifest | undefined> {
  const messageKeys = keys.filter(({ use }) => use === 'message')
  const verified = await verifyJws('registry', envelope, messageKeys)
  const manifest = typeof verified === 'string' ? undefined : parseJsonAs(snapshotManifest, verified.payload)
  return manifest && !findSignerFault(verified, threshold, manifest.made_at) ? manifest : undefined
}

function unsignedSnapshotError(): OfflineCommandError {
  return new OfflineCommandError(
    5,
    'the snapshot is not signed by a pinned peer: nothing was imported',
    '`platform peers list` lists the pinned peers',
  )
}
