// Opens the source of messages behind a connection.
import * as z from 'zod'
import { kafkaSource } from '../../../../adapters/ingest-source/kafka/kafka-source.ts'
import { rabbitmqSource } from '../../../../adapters/ingest-source/rabbitmq/rabbitmq-source.ts'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import type { MessageSource } from '../../../shared/message-source/message-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'
import { readSecret } from './read-secret.ts'
import { loadDriver } from './source-driver.ts'

export function hasMessages(conn_type: string): boolean {
  return Object.hasOwn(openers, conn_type)
}

/** Throws `RowSourceError`. */
export async function openMessageSource(connection: OpenConnection, settings: SourceSettings): Promise<MessageSource> {
  const opener = openers[connection.conn_type]
  if (!opener) throw new RowSourceError(`${connection.conn_type} has no queue: read it by ingest_database`)
  return await opener(connection, settings)
}

type MessageOpener = (connection: OpenConnection, settings: SourceSettings) => Promise<MessageSource>

const openers: Readonly<Record<string, MessageOpener>> = { rabbitmq: openRabbitmq, kafka: openKafka }

const rabbitmqConfig = z.looseObject({
  ...{ host: z.string(), port: z.int(), virtual_host: z.string(), queue: z.string() },
  ...{ username: z.string().optional(), tls: z.enum(['verify', 'off']), ca: z.string().optional() },
})
const passwordAlone = z.looseObject({ password: z.string().optional() })

async function openRabbitmq({ config, secret }: OpenConnection, settings: SourceSettings): Promise<MessageSource> {
  const { host, port, virtual_host, queue, username, tls, ca } = rabbitmqConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const { rabbitmqDriver } = await loadDriver(
    settings.packedDriver,
    () => import('../../../../adapters/ingest-source/rabbitmq/driver.ts'),
  )
  const rule = addressRule(settings.trusted_networks)
  return rabbitmqSource({ host, port, virtual_host, queue, username, password, tls, ca, rule }, rabbitmqDriver)
}

const kafkaConfig = z.looseObject({
  ...{ brokers: z.array(z.string()), port: z.int(), topic: z.string(), group: z.string().optional() },
  ...{ username: z.string().optional(), tls: z.enum(['verify', 'off']), ca: z.string().optional() },
  mechanism: z.enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512']),
})

async function openKafka({ config, secret }: OpenConnection, settings: SourceSettings): Promise<MessageSource> {
  const { brokers, port, topic, group, username, tls, ca, mechanism } = kafkaConfig.parse(config)
  const { password } = passwordAlone.parse(readSecret(secret))
  const rule = addressRule(settings.trusted_networks)
  return kafkaSource({ brokers, port, topic, group, username, password, tls, ca, mechanism, rule })
}
