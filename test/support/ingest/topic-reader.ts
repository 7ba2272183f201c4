// A topic of a real Kafka as tests fill and read it.
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import type { Kafka } from '../engines/kafka.ts'

type ConfigChange = Readonly<Record<string, string | number | string[] | undefined>>

/** Without TLS and a user, unless the change says otherwise. */
export function connectToTopic(
  server: Pick<Kafka, 'port'>,
  topic: string,
  change: ConfigChange = {},
  password?: string,
): OpenConnection {
  const usual = { brokers: ['127.0.0.1'], port: server.port, topic, tls: 'off', mechanism: 'none' }
  const all = Object.entries({ ...usual, ...change }).filter(([, value]) => value !== undefined)
  return {
    ...{ tenant_id: 'acme', conn_type: 'kafka', config: Object.fromEntries(all) as OpenConnection['config'] },
    ...(password !== undefined && { secret: JSON.stringify({ password }) }),
  }
}

export const topicSettings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }

export const bodiesOf = (from: number, count: number) => Array.from({ length: count }, (_, at) => `{"n":${from + at}}`)
export const numbersOf = (rows: readonly Readonly<Record<string, unknown>>[]) => rows.map(({ n }) => Number(n))
export const sortNumbers = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
export const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)
