// A record of Kafka as a message of a source.
import { isUtf8 } from 'node:buffer'
import type { SourceMessage } from '../../../daemon/shared/message-source/message-source.ts'
import type { KafkaRecord } from './record-batch.ts'

export function describeRecord(partition: number, epoch: number, record: KafkaRecord): SourceMessage {
  const { offset, at_ms, key, value, headers } = record
  const texts = {
    ...{ key: key === null ? undefined : describeBytes(key), published_at: describeTime(at_ms) },
    ...{ offset: String(offset), partition: String(partition), headers: describeHeaders(headers) },
  }
  const known = Object.entries(texts).filter(([, text]) => text !== undefined)
  return {
    body: value ?? Buffer.alloc(0),
    ...(value === null && { isTombstone: true }),
    properties: Object.fromEntries(known),
    isRedelivered: false,
    // Servers that are not Apache's may have none.
    place: { partition: String(partition), offset, epoch: epoch < 0 ? undefined : epoch },
  }
}

function describeBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('base64')
}

/** An object of JSON; a name that is repeated has the list of its values. */
function describeHeaders(headers: KafkaRecord['headers']): string | undefined {
  if (headers.length === 0) return undefined
  const values = Map.groupBy(headers, ([name]) => name)
  const described = [...values].map(([name, all]) => {
    const texts = all.map(([, value]) => value && describeBytes(value))
    return `${JSON.stringify(name)}:${JSON.stringify(texts.length === 1 ? texts[0] : texts)}`
  })
  return `{${described.join(',')}}`
}

function describeTime(at_ms: bigint): string | undefined {
  const date = new Date(Number(at_ms))
  return at_ms < 0n || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
