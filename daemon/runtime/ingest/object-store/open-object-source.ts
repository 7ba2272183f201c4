// Opens the store of objects behind a connection.
import * as z from 'zod'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import type { ObjectSource } from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'
import { openGcs } from './open-gcs.ts'
import { openSharepoint } from './open-sharepoint.ts'
import { readSecret } from './read-secret.ts'

type ObjectOpener = (connection: OpenConnection, settings: SourceSettings) => Promise<ObjectSource>

const openers: Readonly<Record<string, ObjectOpener>> = {
  aws_s3: openS3,
  azure_blob: openAzureBlob,
  gcs: openGcs,
  sharepoint: openSharepoint,
}

/** Types of connections to stores of objects. */
export const object_types: readonly string[] = Object.keys(openers)

/** The caller closes the source. Throws `RowSourceError`. */
export async function openObjectSource(connection: OpenConnection, settings: SourceSettings): Promise<ObjectSource> {
  const opener = openers[connection.conn_type]
  if (opener) return await opener(connection, settings)
  const known = object_types.join(', ')
  throw new RowSourceError(`ingest_objects reads connections of the types ${known}, and not ${connection.conn_type}`)
}

const s3Config = z.looseObject({
  ...{ bucket: z.string(), region: z.string(), endpoint: z.string().optional(), path_style: z.boolean() },
  ...{ access_key_id: z.string().optional(), ca: z.string().optional() },
})
const s3Secret = z.looseObject({ secret_access_key: z.string().optional(), session_token: z.string().optional() })

async function openS3({ config, secret }: OpenConnection, { trusted_networks }: SourceSettings): Promise<ObjectSource> {
  const { access_key_id, bucket, region, endpoint, path_style, ca } = s3Config.parse(config)
  const { secret_access_key, session_token } = s3Secret.parse(readSecret(secret))
  if ((access_key_id === undefined) !== (secret_access_key === undefined))
    throw new RowSourceError('an access key is access_key_id and the secret secret_access_key: state both, or neither')
  const credentials =
    access_key_id !== undefined && secret_access_key !== undefined
      ? {
          ...{ accessKeyId: access_key_id, secretAccessKey: secret_access_key },
          ...(session_token !== undefined && { sessionToken: session_token }),
        }
      : undefined
  const { s3Source } = await import('../../../../adapters/ingest-source/s3/s3-source.ts')
  return s3Source({ bucket, region, endpoint, path_style, credentials, ca, rule: addressRule(trusted_networks) })
}

const azureConfig = z.looseObject({ account_url: z.string(), container: z.string(), ca: z.string().optional() })
const azureSecret = z.looseObject({ account_key: z.string().optional(), sas_token: z.string().optional() })

async function openAzureBlob({ config, secret }: OpenConnection, settings: SourceSettings): Promise<ObjectSource> {
  const { account_url, container, ca } = azureConfig.parse(config)
  const { account_key, sas_token } = azureSecret.parse(readSecret(secret))
  if (account_key !== undefined && sas_token !== undefined)
    throw new RowSourceError('the secret has an account_key and a sas_token: state one of them')
  if (sas_token !== undefined && !account_url.startsWith('https:'))
    throw new RowSourceError(
      'a shared access signature is sent as it is, by TLS alone: account_url must begin with https',
    )
  const opened = account_key !== undefined ? { account_key } : sas_token !== undefined ? { sas_token } : undefined
  const { azureBlobSource } = await import('../../../../adapters/ingest-source/azure-blob/azure-blob-source.ts')
  const rule = addressRule(settings.trusted_networks)
  return azureBlobSource({ account_url, container, secret: opened, ca, rule })
}
