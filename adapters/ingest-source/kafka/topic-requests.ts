// Requests about one topic: its partitions with their leaders, where their logs begin, and their messages.
import { apis, type KafkaRequest, usualLimits } from './kafka-request.ts'
import type { WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

export type BrokerNode = { readonly id: number; readonly host: string; readonly port: number }
export type PartitionLeader = {
  readonly error: number
  readonly partition: number
  readonly leader: number
  readonly leader_epoch: number
}
export type TopicMetadata = {
  readonly brokers: readonly BrokerNode[]
  readonly cluster: string | null
  readonly topics: readonly { readonly error: number; readonly id: string; readonly partitions: PartitionLeader[] }[]
}

/** Brokers before 2.8 have no ids of topics. */
export const no_topic_id = '0'.repeat(32)

/** `version`: 9 to 12. */
export function requestMetadata(version: number, topic: string): KafkaRequest<TopicMetadata> {
  const body = new WireWriter()
  body.compactList([topic], (name) => {
    if (version >= 10) body.raw(Buffer.alloc(16))
    body.compactText(name).noTags()
  })
  // No topic is created, and no rights are listed.
  body.int8(0).int8(0)
  if (version <= 10) body.int8(0)
  return {
    ...{ api: apis.metadata, version, isFlexible: true, body: body.noTags().done(), ...usualLimits },
    read(answer) {
      answer.int32()
      const brokers = answer.compactList(() => readBroker(answer))
      const cluster = answer.compactText()
      answer.int32()
      return { brokers, cluster, topics: answer.compactList(() => readTopic(answer, version)) }
    },
  }
}

function readBroker(answer: WireReader): BrokerNode {
  const node = { id: answer.int32(), host: answer.compactText() ?? '', port: answer.int32() }
  answer.compactText()
  answer.tags()
  return node
}

function readTopic(answer: WireReader, version: number): TopicMetadata['topics'][number] {
  const error = answer.int16()
  answer.compactText()
  const id = version >= 10 ? answer.uuid() : no_topic_id
  answer.int8()
  const partitions = answer.compactList(() => {
    const about = { error: answer.int16(), partition: answer.int32(), leader: answer.int32() }
    const leader_epoch = answer.int32()
    // Replicas: all, those in sync, and those that are down.
    for (let lists = 0; lists < 3; lists++) answer.compactList(answer.int32)
    answer.tags()
    return { ...about, leader_epoch }
  })
  answer.int32()
  answer.tags()
  return { error, id, partitions }
}

export type PartitionStart = { readonly partition: number; readonly error: number; readonly offset: bigint }

const earliest = -2n
const client_replica = -1
/** Of messages of transactions only those that were committed. */
const read_committed = 1

/** The first offset that each partition still has. */
export function requestStarts(topic: string, partitions: readonly PartitionLeader[]): KafkaRequest<PartitionStart[]> {
  const body = new WireWriter().int32(client_replica).int8(read_committed)
  body.compactList([topic], (name) => {
    body.compactText(name)
    body.compactList(partitions, ({ partition, leader_epoch }) => {
      body.int32(partition).int32(leader_epoch).int64(earliest).noTags()
    })
    body.noTags()
  })
  return {
    ...{ api: apis.list_offsets, version: 6, isFlexible: true, body: body.noTags().done(), ...usualLimits },
    read(answer) {
      answer.int32()
      const topics = answer.compactList(() => {
        answer.compactText()
        const starts = answer.compactList(() => {
          const at = { partition: answer.int32(), error: answer.int16() }
          answer.int64()
          const offset = answer.int64()
          answer.int32()
          answer.tags()
          return { ...at, offset }
        })
        answer.tags()
        return starts
      })
      return topics.flat()
    },
  }
}

export type FetchPlace = {
  readonly partition: number
  readonly leader_epoch: number
  readonly offset: bigint
  /** Of the message before; -1: not known. */
  readonly last_epoch: number
}

export type AbortedTransaction = { readonly producer: bigint; readonly first: bigint }
export type FetchedPartition = {
  readonly partition: number
  readonly error: number
  readonly aborted: AbortedTransaction[]
  /** The log has another history than what was read before. */
  readonly isDiverging: boolean
  readonly records: Buffer
}
export type FetchAnswer = { readonly error: number; readonly partitions: FetchedPartition[] }

export type FetchLimits = { readonly max_wait_ms: number; readonly max_bytes: number; readonly partition_bytes: number }

/** A batch is sent whole, though it be larger than what is requested: brokers take batches of 1 MiB unless they are set otherwise. */
const max_fetch_answer_bytes = 33_554_432
const fetch_timeout_ms = 30_000

/** `version`: 12 names the topic, 13 has its id. */
export function requestMessages(
  version: number,
  topic: { readonly name: string; readonly id: string },
  places: readonly FetchPlace[],
  limits: FetchLimits,
): KafkaRequest<FetchAnswer> {
  const body = new WireWriter().int32(client_replica).int32(limits.max_wait_ms).int32(1).int32(limits.max_bytes)
  // Without a session, which the broker would keep.
  body.int8(read_committed).int32(0).int32(-1)
  body.compactList([topic], ({ name, id }) => {
    if (version >= 13) body.raw(Buffer.from(id, 'hex'))
    else body.compactText(name)
    body.compactList(places, ({ partition, leader_epoch, offset, last_epoch }) => {
      body.int32(partition).int32(leader_epoch).int64(offset).int32(last_epoch).int64(-1n)
      body.int32(limits.partition_bytes).noTags()
    })
    body.noTags()
  })
  body.unsignedVarint(1).compactText('').noTags()
  return {
    ...{ api: apis.fetch, version, isFlexible: true, body: body.done() },
    ...{ max_bytes: max_fetch_answer_bytes, timeout_ms: fetch_timeout_ms },
    read(answer) {
      answer.int32()
      const error = answer.int16()
      answer.int32()
      const topics = answer.compactList(() => {
        if (version >= 13) answer.uuid()
        else answer.compactText()
        const partitions = answer.compactList(() => readPartition(answer))
        answer.tags()
        return partitions
      })
      return { error, partitions: topics.flat() }
    },
  }
}

const diverging_epoch_tag = 0

function readPartition(answer: WireReader): FetchedPartition {
  const at = { partition: answer.int32(), error: answer.int16() }
  // Ends of the log, and its beginning.
  for (let ends = 0; ends < 3; ends++) answer.int64()
  const aborted = answer.compactList(() => {
    const transaction = { producer: answer.int64(), first: answer.int64() }
    answer.tags()
    return transaction
  })
  answer.int32()
  const records = answer.compactBytes() ?? Buffer.alloc(0)
  let isDiverging = false
  answer.tags((tag) => {
    if (tag === diverging_epoch_tag) isDiverging = true
  })
  return { ...at, aborted, isDiverging, records }
}
