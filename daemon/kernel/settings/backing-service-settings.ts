// Settings of servers that a site may use instead of its own files and memory.
import * as z from 'zod'
import { settingsBlock } from './settings.ts'

export const keyValueSettings = settingsBlock('kv', {
  host: z.string().min(1).optional().meta({
    env: 'KV_HOST',
    doc: 'Redis or Valkey server for counters and leases that several processes share; absent: counters in the process, leases in the store.',
  }),
  port: z.int().min(1).max(65_535).default(6379).meta({ env: 'KV_PORT', doc: 'Port of the server.' }),
  db: z.int().min(0).max(65_535).default(0).meta({ env: 'KV_DB', doc: 'Number of the database.' }),
  username: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ env: 'KV_USERNAME', doc: 'User of the server, if it has users.' }),
  password: z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .meta({ env: 'KV_PASSWORD', doc: 'Password of the server.', secret: true }),
  verify: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true'), z.string().startsWith('/')])
    .default(true)
    .meta({
      env: 'KV_VERIFY',
      doc: 'true: TLS, verified with the authorities of the system; a path: with those of this PEM file; false: no TLS, allowed on loopback only.',
    }),
})

export const searchSettings = settingsBlock('search', {
  host: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !url.includes('@'), 'must not contain credentials; use search.username and search.password')
    .optional()
    .meta({
      env: 'SEARCH_HOST',
      doc: 'Base URL of the OpenSearch cluster for documents, such as https://search:9200; absent: each role stores its documents in SQLite.',
    }),
  username: z.string().min(1).max(256).optional().meta({ env: 'SEARCH_USERNAME', doc: 'User of the cluster.' }),
  password: z.string().min(1).optional().meta({ env: 'SEARCH_PASSWORD', secret: true, doc: 'Password of that user.' }),
  verify: z.boolean().default(true).meta({
    env: 'SEARCH_VERIFY',
    doc: 'Whether the cluster’s certificate is verified; profiles C and D require it.',
  }),
  pki_ca: z.string().min(1).optional().meta({
    env: 'SEARCH_PKI_CA',
    doc: 'Authorities (PEM) for the cluster’s certificate, instead of the machine’s.',
  }),
  pki_cert: z.string().min(1).optional().meta({ env: 'SEARCH_PKI_CERT', doc: 'Client certificate (PEM).' }),
  pki_key: z.string().min(1).optional().meta({ env: 'SEARCH_PKI_KEY', doc: 'Private key (PEM) of pki_cert.' }),
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
    .meta({ env: 'SEARCH_SCROLL', doc: 'Time that the cluster keeps its position in a removal of many documents.' }),
  index_prefix: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .default('platform')
    .meta({
      env: 'SEARCH_INDEX_PREFIX',
      doc: 'First part of every index name; site, role (of resolution: fusion) and collection follow it, separated by dots.',
    }),
  alias_prefix: z
    .string()
    .regex(/^([a-z0-9][a-z0-9._-]{0,126})?$/, 'must begin with a lower-case letter or digit')
    .optional()
    .meta({
      env: 'SEARCH_ALIAS_PREFIX',
      doc: 'First part of the documented index names, such as signal; no two sites of a cluster share it (default: index_prefix and site, each with a dot).',
    }),
  replicas: z
    .int()
    .min(0)
    .max(10)
    .default(1)
    .meta({ env: 'SEARCH_REPLICAS', doc: 'Number of copies of each new index.' }),
})
