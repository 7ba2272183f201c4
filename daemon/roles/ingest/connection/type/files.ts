// Connections to stores of files and objects.
import * as z from 'zod'
import { type ConnectionType, ca, flag, keyText, secret, tenantPath, text, url } from './connection-type.ts'

const prefix = text('Beginning of the names of the objects').optional()

/** Both may become a part of the name of the host. */
const region = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens')
  .meta({ description: 'Region' })
const bucket = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){1,253}[A-Za-z0-9]$/, 'must be the name of a bucket')
  .meta({ description: 'Bucket' })
/** A part of a header. */
const accessKeyId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be at most 128 printable ASCII characters')
  .meta({ description: 'Id of the access key; absent: anonymous' })

const container = z
  .string()
  .regex(/^\$?[a-z0-9](?:-?[a-z0-9]){1,62}$/, 'must be the name of a container')
  .meta({ description: 'Container' })
/** A part of a URL. */
const sasToken = secret('Shared access signature').regex(/^\??[A-Za-z0-9%&=._~:+/-]+$/, 'must be the query of a URL')

export const azureBlob: ConnectionType = {
  ...{ name: 'azure_blob', category: 'object storage', selects: ['container', 'prefix'] },
  config: z.strictObject({ account_url: url('URL of the account'), container, prefix, ca }),
  secret: z.strictObject({
    ...{
      account_key: secret('Key of the account').optional(),
      sas_token: sasToken.optional(),
    },
  }),
}

export const awsS3: ConnectionType = {
  ...{ name: 'aws_s3', category: 'object storage', selects: ['bucket', 'prefix'] },
  config: z.strictObject({
    ...{ region, bucket, prefix, access_key_id: accessKeyId.optional() },
    endpoint: url('URL of a compatible store (default: that of AWS in the region)').optional(),
    path_style: flag(false, 'Name the bucket in the path, not in the host'),
    ca,
  }),
  secret: z.strictObject({
    ...{ secret_access_key: secret('Access key').optional(), session_token: keyText('Session token').optional() },
  }),
}

export const gcs: ConnectionType = {
  ...{ name: 'gcs', category: 'object storage', selects: ['bucket', 'prefix'] },
  config: z.strictObject({
    ...{ project: text('Project that pays for the requests').optional(), bucket, prefix },
    ...{ endpoint: url('URL of the store').default('https://storage.googleapis.com'), ca },
  }),
  secret: z.strictObject({ service_account: keyText('Key file of a service account, as JSON text').optional() }),
}

/** A part of the path of requests. */
const folder = text('Folder of the library').refine(
  (path) => path.split('/').every((name) => name !== '.' && name !== '..'),
  'must be a path in the library, without ..',
)

export const sharepoint: ConnectionType = {
  ...{ name: 'sharepoint', category: 'document store', selects: ['library', 'folder'] },
  config: z.strictObject({
    ...{ site_url: url('URL of the site'), library: text('Library of documents'), folder: folder.optional() },
    ...{ directory_id: text('Id of the directory'), client_id: text('Id of the application'), ca },
    graph_url: url('URL of Microsoft Graph, which differs between clouds').default('https://graph.microsoft.com'),
    login_url: url('URL of the sign-in service').default('https://login.microsoftonline.com'),
  }),
  secret: z.strictObject({
    client_secret: secret('Secret of the application').optional(),
    certificate: keyText('Certificate with its private key, as PEM').optional(),
  }),
}

export const parquet: ConnectionType = {
  ...{ name: 'parquet', category: 'file-based dataset', selects: [] },
  config: z.strictObject({ path: tenantPath('Parquet file, or folder of Parquet files') }),
}
