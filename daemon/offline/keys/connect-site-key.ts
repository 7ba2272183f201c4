// Connects a key in a security module to a site or a medium.
import { type ConnectedKeyOptions, connectKey } from '../../../adapters/keys/jose/connected-key.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import { requireSigningCapacity } from './key-rotation.ts'
import type { KeyLocation } from './site-keys.ts'

/** Connects a key whose private half a command reaches. Throws `Refusal` if the command does not sign with it. */
export async function connectSiteKey(
  location: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  options: ConnectedKeyOptions,
): Promise<PublicKey> {
  if (!('profile' in location)) return await connectKey(location.keys, options)
  requireDataFolder(location)
  requireSigningCapacity(location, options.use, options.now)
  const key = await connectKey(location.keys, options)
  const { program } = options.command
  const detail = { fingerprint: key.fingerprint, program }
  await recordOperatorAction(location, env, { action: 'site.key.connect', target: key.kid, detail })
  return key
}
