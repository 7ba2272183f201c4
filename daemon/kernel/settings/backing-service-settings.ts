// Settings of servers that a site may use instead of its own files and memory.
import * as z from 'zod'
import { settingsBlock } from './settings.ts'

export const keyValueSettings = settingsBlock('kv', {
  host: z.string().min(1).optional().meta({
    env: 'KV_HOST',
    doc: 'Redis or Valkey server for counters that several processes share; absent: counters in the process itself.',
  }),
  port: z.int().min(1).max(65_535).default(6379).meta({ env: 'KV_PORT', doc: 'Port of the server.' }),
  db: z.int().min(0).max(65_535).default(0).meta({ env: 'KV_DB', doc: 'Number of the database.' }),
  username: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ env: 'KV_USERNAME', doc: 'User at the server, where it has users.' }),
  password: z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .meta({ env: 'KV_PASSWORD', doc: 'Password at the server.', secret: true }),
  verify: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true'), z.string().startsWith('/')])
    .default(true)
    .meta({
      env: 'KV_VERIFY',
      doc: 'true: TLS, verified by the authorities of the system; a path: TLS, verified by the authorities in this PEM file; false: no TLS, on loopback only.',
    }),
})

export const searchSettings = settingsBlock('search', {
  host: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !url.includes('@'), 'must not contain credentials; use search.username and search.password')
    .optional()
    .meta({
      env: 'SEARCH_HOST',
      doc: 'Base URL of the OpenSearch cluster that stores the documents, as in https://search:9200; absent: each role stores its documents in SQLite.',
    }),
  username: z.string().min(1).max(256).optional().meta({ env: 'SEARCH_USERNAME', doc: 'User of the cluster.' }),
  password: z.string().min(1).optional().meta({ env: 'SEARCH_PASSWORD', secret: true, doc: 'Password of that user.' }),
  verify: z.boolean().default(true).meta({
    env: 'SEARCH_VERIFY',
    doc: 'Whether the cluster’s certificate is verified; profiles C and D refuse to start without verification.',
  }),
  pki_ca: z.string().min(1).optional().meta({
    env: 'SEARCH_PKI_CA',
    doc: 'File (PEM) of the authorities that may issue the cluster’s certificate, instead of the machine’s.',
  }),
  pki_cert: z.string().min(1).optional().meta({ env: 'SEARCH_PKI_CERT', doc: 'File (PEM) of the client certificate.' }),
  pki_key: z.string().min(1).optional().meta({ env: 'SEARCH_PKI_KEY', doc: 'File (PEM) of its private key.' }),
  timeout: z
    .int()
    .min(1)
    .max(300)
    .default(20)
    .meta({ env: 'SEARCH_TIMEOUT', doc: 'Time limit of one request, in seconds.' }),
  scroll: z
    .string()
    .regex(/^[1-9]\d{0,3}[smh]$/, 'must be a number and s, m or h')
    .default('5m')
    .meta({
      env: 'SEARCH_SCROLL',
      doc: 'How long the cluster keeps a scroll context while many documents are removed.',
    }),
  index_prefix: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .default('platform')
    .meta({
      env: 'SEARCH_INDEX_PREFIX',
      doc: 'First part of every index name; site, role (of resolution: fusion) and collection follow, separated by dots.',
    }),
  replicas: z.int().min(0).max(10).default(1).meta({ env: 'SEARCH_REPLICAS', doc: 'Copies of each new index.' }),
})
