// The fingerprint that a site or a person reads aloud, computed from the file that the other end receives.

import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { readPinnableKeys, speakPinnableKeys } from '../peers/site-peers.ts'
import { parsePersonalKeys, speakPersonalKeys } from '../people/site-people.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { exportCurrentKeySet } from './key-set-commands.ts'
import { exportSiteJwks } from './site-keys.ts'

export type SpokenFingerprint = {
  readonly groups: readonly string[]
  /** All keys that the fingerprint covers. */
  readonly keys: readonly PublicKey[]
  readonly site?: string
  readonly tenant_id?: string
  /** Version of the key set. */
  readonly key_set?: number
}

/** Throws `OfflineCommandError` for a site without an active message key. */
export async function speakSiteKeys(folder: SiteFolder, env: EnvironmentVariables): Promise<SpokenFingerprint> {
  const { name: site, tenant_id } = readSiteSettings(folder, env).platform
  const file = exportCurrentKeySet(folder)?.file ?? exportSiteJwks(folder, undefined)
  const pinnable = await readPinnableKeys(JSON.stringify(file))
  const { keys, set } = pinnable
  const groups = speakPinnableKeys(site, tenant_id, pinnable)
  return { groups, keys, site, tenant_id, ...(set ? { key_set: set.set.version } : {}) }
}

/** Throws `OfflineCommandError` for a folder without an active personal key. */
export function speakFolderKeys(dir: string): SpokenFingerprint {
  const keys = parsePersonalKeys(JSON.stringify(exportSiteJwks({ keys: dir }, undefined)))
  return { groups: speakPersonalKeys(keys), keys }
}
