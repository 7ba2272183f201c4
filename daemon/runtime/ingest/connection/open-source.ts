// Opens the source of rows behind a connection.
import * as z from 'zod'
import { cassandraSource } from '../../../../adapters/ingest-source/cassandra/cassandra-source.ts'
import { elasticsearchSource } from '../../../../adapters/ingest-source/elasticsearch/elasticsearch-source.ts'
import { mongoSource } from '../../../../adapters/ingest-source/mongo/mongo-source.ts'
import { mssqlSource } from '../../../../adapters/ingest-source/mssql/mssql-source.ts'
import { mysqlSource } from '../../../../adapters/ingest-source/mysql/mysql-source.ts'
import { oracleSource } from '../../../../adapters/ingest-source/oracle/oracle-source.ts'
import { postgresSource } from '../../../../adapters/ingest-source/postgres/postgres-source.ts'
import { type RedisValues, redisSource } from '../../../../adapters/ingest-source/redis/redis-source.ts'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { type RowSource, RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'
import { hasMessages } from './open-messages.ts'
import { openSqlite } from './open-sqlite.ts'
import { readSecret } from './read-secret.ts'
import { loadDriver } from './source-driver.ts'

/** `scratch`: a new file for a copy, or a new folder, which closing the source removes. Throws `RowSourceError`. */
export async function openRowSource(
  connection: OpenConnection,
  settings: SourceSettings,
  scratch: string,
  options: SourceOptions = {},
): Promise<RowSource> {
  const opener = openers[connection.conn_type]
  if (hasMessages(connection.conn_type))
    throw new RowSourceError(`${connection.conn_type} has messages: read them by ingest_queue`)
  if (!opener)
    throw new RowSourceError(
      `ingest_database reads no connection of the type ${connection.conn_type}: see ingest_objects`,
    )
  return await opener(connection, settings, scratch, options)
}

/** Parameters of a task that one technology has. */
export type SourceOptions = { readonly values?: RedisValues | undefined }

type SourceOpener = (
  connection: OpenConnection,
  settings: SourceSettings,
  scratch: string,
  options: SourceOptions,
) => Promise<RowSource>

const openers: Readonly<Record<string, SourceOpener>> = {
  sqlite: openSqlite,
  elasticsearch: openElasticsearch,
  postgres: openPostgres,
  mysql: openMysql,
  mssql: openMssql,
  oracle: openOracle,
  redis: openRedis,
  mongo: openMongo,
  cassandra: openCassandra,
}

const elasticConfig = z.looseObject({ url: z.string(), username: z.string().optional(), ca: z.string().optional() })
const elasticSecret = z.looseObject({ password: z.string().optional(), api_key: z.string().optional() })

async function openElasticsearch({ config, secret }: OpenConnection, { trusted_networks }: SourceSettings) {
  const { url, username, ca } = elasticConfig.parse(config)
  const { password, api_key } = elasticSecret.parse(readSecret(secret))
  return elasticsearchSource({ url, username, password, api_key, ca, rule: addressRule(trusted_networks) })
}

const passwordAlone = z.looseObject({ password: z.string().optional() })
const serverConfig = z.looseObject({
  ...{ host: z.string(), port: z.int(), username: z.string().optional() },
  ...{ tls: z.enum(['verify', 'off']), ca: z.string().optional() },
})
const databaseConfig = serverConfig.extend({ database: z.string(), schema: z.string().optional() })

async function openPostgres({ config, secret }: OpenConnection, settings: SourceSettings): Promise<RowSource> {
  const { host, port, username, tls, ca, database, schema } = databaseConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const { postgresDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/postgres/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return postgresSource({ host, port, username, password, tls, ca, database, schema, rule }, postgresDriver)
}

async function openMysql({ config, secret }: OpenConnection, settings: SourceSettings): Promise<RowSource> {
  const { host, port, username, tls, ca, database } = databaseConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const { mysqlDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/mysql/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return mysqlSource({ host, port, username, password, tls, ca, database, rule }, mysqlDriver)
}

async function openMssql({ config, secret }: OpenConnection, settings: SourceSettings): Promise<RowSource> {
  const { host, port, username, tls, ca, database, schema } = databaseConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const { mssqlDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/mssql/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return mssqlSource({ host, port, username, password, tls, ca, database, schema, rule }, mssqlDriver)
}

const serviceConfig = serverConfig.extend({ service_name: z.string(), schema: z.string().optional() })

async function openOracle({ config, secret }: OpenConnection, settings: SourceSettings): Promise<RowSource> {
  const { password } = passwordAlone.parse(readSecret(secret))
  const { oracleDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/oracle/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return oracleSource({ ...serviceConfig.parse(config), password, rule }, oracleDriver)
}

const keyConfig = serverConfig.extend({ database: z.int() })

async function openRedis(
  { config, secret }: OpenConnection,
  settings: SourceSettings,
  scratch: string,
  { values = 'text' }: SourceOptions,
): Promise<RowSource> {
  const { host, port, username, tls, ca, database } = keyConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const { redisDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/redis/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return redisSource({ host, port, username, password, tls, ca, database, rule }, redisDriver, values, scratch)
}

const hostsConfig = serverConfig.omit({ host: true }).extend({ hosts: z.array(z.string()) })
const documentConfig = hostsConfig.extend({
  database: z.string(),
  ...{ auth_database: z.string().optional(), replica_set: z.string().optional() },
})

async function openMongo({ config, secret }: OpenConnection, settings: SourceSettings): Promise<RowSource> {
  const { password } = passwordAlone.parse(readSecret(secret))
  const { mongoDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/mongo/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return mongoSource({ ...documentConfig.parse(config), password, rule }, mongoDriver)
}

const keyspaceConfig = hostsConfig.extend({ keyspace: z.string(), datacenter: z.string().optional() })

async function openCassandra(
  { config, secret }: OpenConnection,
  { trusted_networks }: SourceSettings,
): Promise<RowSource> {
  const { password } = passwordAlone.parse(readSecret(secret))
  return cassandraSource({ ...keyspaceConfig.parse(config), password, rule: addressRule(trusted_networks) })
}
