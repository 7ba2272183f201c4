// Requests of the protocol of Kafka: how each is written and its answer read, and those that open a connection.
import type { WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

export type KafkaRequest<T> = {
  readonly api: number
  readonly version: number
  /** Of those since KIP-482: headers have tagged fields. */
  readonly isFlexible: boolean
  readonly body: Buffer
  readonly read: (answer: WireReader) => T
  /** Of the answer. */
  readonly max_bytes: number
  readonly timeout_ms: number
}

/** Of an answer without messages. */
export const usual_answer_bytes = 4_194_304
const usual_timeout_ms = 15_000
export const usualLimits = { max_bytes: usual_answer_bytes, timeout_ms: usual_timeout_ms } as const

/** As the protocol numbers the requests. */
export const apis = {
  ...{ fetch: 1, list_offsets: 2, metadata: 3, offset_commit: 8, find_coordinator: 10 },
  ...{ sasl_handshake: 17, api_versions: 18, sasl_authenticate: 36 },
} as const

/** The greatest version of each request that the broker takes. */
export type BrokerVersions = ReadonlyMap<number, { readonly min: number; readonly max: number }>

export function requestVersions(): KafkaRequest<{ readonly error: number; readonly versions: BrokerVersions }> {
  return {
    ...{ api: apis.api_versions, version: 0, isFlexible: false, body: Buffer.alloc(0), ...usualLimits },
    read(answer) {
      const error = answer.int16()
      const ranges = answer.list(() => [answer.int16(), { min: answer.int16(), max: answer.int16() }] as const)
      return { error, versions: new Map(ranges) }
    },
  }
}

export function chooseMechanism(mechanism: string): KafkaRequest<{ readonly error: number }> {
  return {
    ...{ api: apis.sasl_handshake, version: 1, isFlexible: false, ...usualLimits },
    body: new WireWriter().text(mechanism).done(),
    read: (answer) => ({ error: answer.int16() }),
  }
}

export type SaslAnswer = { readonly error: number; readonly bytes: Buffer; readonly lifetime_ms: bigint }

export function sendProof(proof: Buffer): KafkaRequest<SaslAnswer> {
  return {
    ...{ api: apis.sasl_authenticate, version: 1, isFlexible: false, ...usualLimits },
    body: new WireWriter().bytes(proof).done(),
    read(answer) {
      const error = answer.int16()
      answer.text()
      return { error, bytes: answer.bytes(), lifetime_ms: answer.int64() }
    },
  }
}
