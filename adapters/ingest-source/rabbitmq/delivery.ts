// A delivery of AMQP as a message of a source.
import type { ConsumeMessage } from 'amqplib'
import type { SourceMessage } from '../../../daemon/shared/message-source/message-source.ts'

/** The offset of a message of a stream. */
const offset_header = 'x-stream-offset'
/** Headers that the broker writes with each delivery. */
const delivery_headers = new Set([offset_header, 'x-delivery-count', 'x-acquired-count'])

export function describeDelivery({ content, fields, properties }: ConsumeMessage, partition: string): SourceMessage {
  const { messageId, correlationId, timestamp, contentType, type, appId } = properties
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {}
  const own = Object.entries(headers).filter(([name]) => !delivery_headers.has(name))
  const offset = readOffset(headers[offset_header])
  const texts = {
    ...{ message_id: messageId, correlation_id: correlationId, published_at: describeTime(timestamp) },
    ...{ content_type: contentType, type, app_id: appId, routing_key: fields.routingKey, exchange: fields.exchange },
    headers: own.length === 0 ? undefined : JSON.stringify(Object.fromEntries(own), describeValue),
    offset: offset?.toString(),
  }
  const known = Object.entries(texts).filter(([, text]) => typeof text === 'string' && text !== '')
  return {
    body: content,
    properties: Object.fromEntries(known.map(([name, text]) => [name, String(text).toWellFormed()])),
    isRedelivered: fields.redelivered === true,
    ...(offset !== undefined && { place: { partition, offset } }),
  }
}

/** A number beyond those that a double keeps comes as a text or a large integer. */
function readOffset(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

/** Seconds since 1970, as its sender wrote them. */
function describeTime(timestamp: unknown): string | undefined {
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp) || timestamp < 0) return undefined
  const date = new Date(timestamp * 1_000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function describeValue(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
