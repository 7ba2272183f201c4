// Connections to brokers of messages, and to a compute engine.
import * as z from 'zod'
import { type ConnectionType, ca, host, password, port, secret, text, tls } from './connection-type.ts'

const username = text('User').optional()

export const kafka: ConnectionType = {
  ...{ name: 'kafka', category: 'streaming', selects: ['topic', 'group'] },
  config: z.strictObject({
    ...{ brokers: z.array(host).min(1).max(32).meta({ description: 'Brokers' }), port: port(9_092), username, tls, ca },
    ...{ topic: text('Topic'), group: text('Consumer group').optional() },
    mechanism: z
      .enum(['none', 'plain', 'scram-sha-256', 'scram-sha-512'])
      .default('none')
      .meta({ description: 'SASL' }),
  }),
  secret: z.strictObject({ password: password.optional() }),
}

export const rabbitmq: ConnectionType = {
  ...{ name: 'rabbitmq', category: 'messaging', selects: ['queue'] },
  config: z.strictObject({
    ...{
      host,
      port: port(5_671),
      virtual_host: text('Virtual host').default('/'),
      queue: text('Queue'),
      username,
      tls,
      ca,
    },
  }),
  secret: z.strictObject({ password: password.optional() }),
}

export const spark: ConnectionType = {
  ...{ name: 'spark', category: 'compute engine (tentative)', selects: ['database'] },
  config: z.strictObject({ host, port: port(10_000), database: text('Database').optional(), username, tls }),
  secret: z.strictObject({ password: password.optional(), token: secret('Access token').optional() }),
}
