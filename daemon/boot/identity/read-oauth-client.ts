// Reads a client of the profile, with the digest of its secret.
import { readSecretFile } from '../../../adapters/platform/secret-file/read-secret-file.ts'
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import type { Site } from '../../kernel/role/site.ts'
import type { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import type { OAuthClient } from '../../roles/site/token/model.ts'

/** Reads the secret once and keeps only its digest. Throws with the name of the client if its file cannot be read. */
export function readOAuthClient(
  client: SettingValues<typeof identitySettings>['clients'][number],
  site: Site,
): OAuthClient {
  const {
    client_id,
    secret_file,
    subject = client_id,
    tenant_id = site.tenant_id,
    roles,
    clearance,
    may_exchange,
  } = client
  return {
    client_id,
    secret_sha256: sha256(readClientSecret(secret_file, client_id)),
    subject,
    tenant_id,
    roles: [...roles],
    ...(clearance ? { clearance } : {}),
    may_exchange,
  }
}

function readClientSecret(file: string, client_id: string): string {
  let text: string
  try {
    text = readSecretFile(file).trim()
  } catch (error) {
    throw new Error(`the secret of the client ${client_id} cannot be used: ${(error as Error).message}`)
  }
  if (text.length < 16) throw new Error(`the secret of the client ${client_id} is shorter than 16 characters`)
  return text
}
