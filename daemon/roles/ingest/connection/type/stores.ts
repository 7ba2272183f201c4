// Connections to document, wide-column and key-value stores, and to search indexes.
import * as z from 'zod'
import { type ConnectionType, ca, host, password, port, secret, text, tls, url } from './connection-type.ts'

const username = text('User').optional()
const hosts = z.array(host).min(1).max(32).meta({ description: 'Servers' })

export const mongo: ConnectionType = {
  ...{ name: 'mongo', category: 'document database', selects: ['database'] },
  config: z.strictObject({
    ...{ hosts, port: port(27_017), database: text('Database'), username, tls, ca },
    auth_database: text('Database that knows the user (default: admin)').optional(),
    replica_set: text('Replica set').optional(),
  }),
  secret: z.strictObject({ password: password.optional() }),
}

export const couchbase: ConnectionType = {
  ...{ name: 'couchbase', category: 'document database', selects: ['bucket', 'scope'] },
  config: z.strictObject({
    hosts,
    bucket: text('Bucket'),
    scope: text('Scope').optional(),
    username: text('User'),
    tls,
  }),
  secret: z.strictObject({ password }),
}

export const cassandra: ConnectionType = {
  ...{ name: 'cassandra', category: 'wide-column database', selects: ['keyspace'] },
  config: z.strictObject({
    ...{ hosts, port: port(9_042), keyspace: text('Keyspace'), datacenter: text('Local data centre').optional() },
    ...{ username, tls, ca },
  }),
  secret: z.strictObject({ password: password.optional() }),
}

export const redis: ConnectionType = {
  ...{ name: 'redis', category: 'key-value store', selects: ['database'] },
  config: z.strictObject({
    ...{ host, port: port(6_379), username, tls, ca },
    database: z.int().min(0).max(65_535).default(0).meta({ description: 'Number of the database' }),
  }),
  secret: z.strictObject({ password: password.optional() }),
}

export const elasticsearch: ConnectionType = {
  ...{ name: 'elasticsearch', category: 'search index', selects: ['index'] },
  config: z.strictObject({ url: url('URL of the server'), index: text('Index or alias').optional(), username, ca }),
  secret: z.strictObject({ password: password.optional(), api_key: secret('API key').optional() }),
}
