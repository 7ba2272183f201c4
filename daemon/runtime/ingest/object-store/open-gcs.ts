// Opens a bucket of Google Cloud Storage, in the name of a service account.
import * as z from 'zod'
import type { GcsAccount } from '../../../../adapters/ingest-source/gcs/gcs-source.ts'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import type { ObjectSource } from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'
import { readSecret } from './read-secret.ts'

const gcsConfig = z.looseObject({
  ...{ bucket: z.string(), project: z.string().optional(), endpoint: z.string(), ca: z.string().optional() },
})
const gcsSecret = z.looseObject({ service_account: z.string().optional() })
/** As the provider writes key files. */
const accountKey = z.looseObject({
  type: z.literal('service_account'),
  client_email: z.string().min(1).max(256),
  private_key: z.string().min(1),
  private_key_id: z.string().max(256).optional(),
  token_uri: z.url({ protocol: /^https$/ }).refine((text) => !/[@#]/.test(text)),
})

const lifetime_s = 3_600

export async function openGcs({ config, secret }: OpenConnection, settings: SourceSettings): Promise<ObjectSource> {
  const { bucket, project, endpoint, ca } = gcsConfig.parse(config)
  const { service_account } = gcsSecret.parse(readSecret(secret))
  if (service_account !== undefined && !endpoint.startsWith('https:'))
    throw new RowSourceError('an access token is sent as it is, by TLS alone: endpoint must begin with https')
  const account = service_account === undefined ? undefined : readAccount(service_account)
  const { gcsSource } = await import('../../../../adapters/ingest-source/gcs/gcs-source.ts')
  return gcsSource({ bucket, project, endpoint, account, ca, rule: addressRule(settings.trusted_networks) })
}

function readAccount(text: string): GcsAccount {
  const key = parseJsonAs(accountKey, text)
  if (!key)
    throw new RowSourceError(
      'service_account is not a key file of a service account with client_email, private_key and an https token_uri',
    )
  const { client_email: iss, private_key, private_key_id: kid, token_uri: aud } = key
  const assert = async (scope: string) => {
    const { signAssertion } = await import('../../../../adapters/keys/jose/assertions.ts')
    const iat = Math.floor(Date.now() / 1_000)
    const claims = { iss, aud, scope, iat, exp: iat + lifetime_s }
    return await signAssertion(claims, { alg: 'RS256', ...(kid !== undefined && { kid }) }, private_key).catch(() => {
      throw new RowSourceError('the private_key of the service account is not a key for RS256 as PEM (PKCS #8)')
    })
  }
  return { token_uri: aud, assert }
}
