// Connections to stores of files and objects.
import * as z from 'zod'
import { type ConnectionType, flag, keyText, secret, tenantPath, text, url } from './connection-type.ts'

const prefix = text('Beginning of the names of the objects').optional()

export const azureBlob: ConnectionType = {
  ...{ name: 'azure_blob', category: 'object storage', selects: ['container', 'prefix'] },
  config: z.strictObject({ account_url: url('URL of the account'), container: text('Container'), prefix }),
  secret: z.strictObject({
    ...{
      account_key: secret('Key of the account').optional(),
      sas_token: secret('Shared access signature').optional(),
    },
  }),
}

export const awsS3: ConnectionType = {
  ...{ name: 'aws_s3', category: 'object storage', selects: ['bucket', 'prefix'] },
  config: z.strictObject({
    ...{
      region: text('Region'),
      bucket: text('Bucket'),
      prefix,
      access_key_id: text('Id of the access key').optional(),
    },
    ...{
      endpoint: url('URL of a compatible store').optional(),
      path_style: flag(false, 'Name the bucket in the path'),
    },
  }),
  secret: z.strictObject({
    ...{ secret_access_key: secret('Access key').optional(), session_token: keyText('Session token').optional() },
  }),
}

export const gcs: ConnectionType = {
  ...{ name: 'gcs', category: 'object storage', selects: ['bucket', 'prefix'] },
  config: z.strictObject({ project: text('Project').optional(), bucket: text('Bucket'), prefix }),
  secret: z.strictObject({ service_account: keyText('Key file of a service account, as JSON text').optional() }),
}

export const sharepoint: ConnectionType = {
  ...{ name: 'sharepoint', category: 'document store', selects: ['library', 'folder'] },
  config: z.strictObject({
    ...{ site_url: url('URL of the site'), library: text('Library of documents'), folder: text('Folder').optional() },
    ...{ directory_id: text('Id of the directory'), client_id: text('Id of the application') },
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
