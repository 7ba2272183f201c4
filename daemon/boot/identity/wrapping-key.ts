// Creates the wrapping key of a site that has none: a site of an earlier release, or one whose key folder was lost.
import { hasWrappedKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { createWrappingKey, readWrappingKeys } from '../../../adapters/keys/jose/wrapping-keys.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import { passphraseReader } from '../host/passphrase.ts'
import type { SiteResources } from '../site-resources.ts'

/** The new key is under the passphrase where those that the site serves with are. Logs its creation. */
export async function ensureWrappingKey({
  folder,
  resolved,
  clock,
  logOf,
}: Pick<SiteResources, 'folder' | 'resolved' | 'clock' | 'logOf'>): Promise<void> {
  if (readWrappingKeys(folder.keys).length > 0) return
  const { keys_passphrase_file } = getSettings(resolved, identitySettings)
  const isEncrypted = hasWrappedKeys(folder.keys, 'message') || hasWrappedKeys(folder.keys, 'token')
  const passphrase = isEncrypted ? passphraseReader(keys_passphrase_file)() : undefined
  const { kid } = await createWrappingKey(folder.keys, { now: clock.now(), passphrase })
  logOf('site').warn('site.wrapping_key.created', { kid, remedy: 'add keys/secrets to the backup of the keys' })
}
