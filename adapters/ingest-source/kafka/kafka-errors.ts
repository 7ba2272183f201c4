// Faults of brokers in words of this project: those of a server may have names, addresses or more.
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { MalformedBytesError } from './wire-reader.ts'

export const error_codes = {
  ...{ none: 0, offset_out_of_range: 1, corrupt_message: 2, unknown_topic: 3, not_coordinator: 16 },
  ...{ topic_denied: 29, group_denied: 30, unsupported_mechanism: 33, illegal_sasl_state: 34 },
  ...{ unknown_topic_id: 100, inconsistent_topic_id: 103 },
} as const

/** The partition has another leader now, has none yet, or its leader is not ready: the next try may find it. */
export class UnavailableLeaderError extends RowSourceError {
  constructor() {
    super('a partition of the topic has no broker now that leads it', false)
  }
}

/** The broker that keeps offsets of a group is not found yet, as that of the first group, or not ready. */
export class UnavailableCoordinatorError extends RowSourceError {
  constructor() {
    super('no broker is ready that keeps the offsets of the group', false)
  }
}

/** Leader or replica not available, not the leader, storage fault, fenced or unknown epoch of the leader, offset not available. */
const leader_codes: readonly number[] = [5, 6, 9, 56, 74, 75, 76, 78]
/** Of coordinators: loading, not available, not the coordinator, rebalancing. */
const coordinator_codes: readonly number[] = [14, 15, error_codes.not_coordinator, 27]

const other_topic = 'begin again with another cursor_generation'
export const recreatedTopic = () =>
  new RowSourceError(`the topic is not the one that was read before: it was created again, so ${other_topic}`)
export const shortenedLog = () =>
  new RowSourceError(
    `a partition of the topic does not have the messages that were read before, as after a broker lost its disk: ${other_topic}`,
    false,
  )

const denied_topic = new RowSourceError('the user of the connection may not read the topic')
const faults: Readonly<Record<number, RowSourceError>> = {
  [error_codes.corrupt_message]: new RowSourceError('the broker has a damaged message', false),
  [error_codes.unknown_topic]: new RowSourceError('the broker has no such topic'),
  7: new RowSourceError('the broker did not answer in its own time', false),
  17: new RowSourceError('the broker has no such topic'),
  22: new RowSourceError('the consumer group has members: name a group in the connection that no program joins', false),
  24: new RowSourceError('the broker refuses the name of the consumer group'),
  25: new RowSourceError('the consumer group has members: name a group in the connection that no program joins', false),
  [error_codes.topic_denied]: denied_topic,
  [error_codes.group_denied]: new RowSourceError('the user of the connection may not commit offsets of the group'),
  31: denied_topic,
  [error_codes.unsupported_mechanism]: new RowSourceError('the broker does not offer the mechanism of the connection'),
  [error_codes.illegal_sasl_state]: new RowSourceError(
    'the broker takes no user at this port: set mechanism of the connection to none',
  ),
  35: new RowSourceError('the broker is too old: the first one that is read is Kafka 2.7'),
  54: new RowSourceError(refused_user),
  58: new RowSourceError(refused_user),
  [error_codes.unknown_topic_id]: recreatedTopic(),
  [error_codes.inconsistent_topic_id]: recreatedTopic(),
}

/** Of a code that is not that of success. */
export function describeErrorCode(code: number): RowSourceError {
  if (leader_codes.includes(code)) return new UnavailableLeaderError()
  if (coordinator_codes.includes(code)) return new UnavailableCoordinatorError()
  return faults[code] ?? new RowSourceError(`the broker refuses the request (error ${code} of the protocol)`, false)
}

export const notKafka = () => new RowSourceError('the server does not answer as a Kafka does', false)
export const noAnswer = () => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })

/** Of a socket, or of bytes that it received. */
export function describeKafkaError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  if (error instanceof MalformedBytesError) return notKafka()
  const { code } = error as { code?: unknown }
  return describeConnectionFailure(typeof code === 'string' ? code : undefined)
}
