// One reading of a topic: all its partitions from the offsets at which the reading before ended, without a consumer group.
import { setTimeout as wait } from 'node:timers/promises'
import type { MessageFate, MessageRequest } from '../../../daemon/shared/message-source/message-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { describeRecord } from './describe-record.ts'
import type { NextOffset } from './group-requests.ts'
import type { KafkaCluster, TopicLayout } from './kafka-cluster.ts'
import {
  describeErrorCode,
  error_codes,
  notKafka,
  recreatedTopic,
  shortenedLog,
  UnavailableLeaderError,
} from './kafka-errors.ts'
import { type KafkaRecord, readBatches } from './record-batch.ts'
import {
  type FetchedPartition,
  type FetchPlace,
  no_topic_id,
  requestMessages,
  requestStarts,
} from './topic-requests.ts'

type Leader = TopicLayout['leaders'][number]

const max_wait_ms = 500
/** Of an answer, unless its first batch is larger. */
const answer_bytes = 4_194_304
const partition_bytes = 1_048_576
/** A broker that answers at once without messages is not requested in a loop. */
const least_round_ms = 20
/** Partitions of a broker that ends have another leader after some seconds, and without one when it is back: 20 seconds in all. */
const max_tries = 15
const longest_pause_ms = 2_000

export class TopicReading {
  readonly #cluster: KafkaCluster
  readonly #topic: string
  readonly #request: MessageRequest
  readonly #next = new Map<number, NextOffset>()
  /** Of the topic, as it was read before or at first. */
  #log: string | undefined
  #isOver = false

  constructor(cluster: KafkaCluster, topic: string, request: MessageRequest) {
    this.#cluster = cluster
    this.#topic = topic
    this.#request = request
  }

  /** Up to which each partition was read. */
  get next(): readonly NextOffset[] {
    return [...this.#next.values()]
  }

  /** One answer of each broker that leads a partition, up to the first message. */
  async probe(): Promise<void> {
    const fault = await this.#round(await this.#begin())
    if (fault) throw fault
  }

  async run(isEnough: Promise<unknown>): Promise<void> {
    const enough = isEnough.then(() => {
      this.#isOver = true
    })
    let layout = await this.#retry(() => this.#begin(), 0)
    this.#request.onOpen(layout.log)
    let fault: RowSourceError | undefined
    for (let failures = 0; !this.#isOver; ) {
      fault = await this.#round(layout, enough)
      if (!fault) {
        failures = 0
        continue
      }
      layout = await this.#retry(() => this.#locate(), ++failures, fault)
    }
    // A broker that does not answer is not one without messages.
    if (fault) throw fault
    await this.#retry(() => this.#locate(), 0)
  }

  /** After a pause, up to `max_tries` in a row, of which there were `failures`; at first only while a partition has no leader. */
  async #retry<T>(attempt: () => Promise<T>, failures: number, before?: RowSourceError): Promise<T> {
    let fault = before
    for (let tries = failures; tries < max_tries; tries++) {
      if (tries > 0) await wait(Math.min(longest_pause_ms, 50 * 2 ** tries))
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof RowSourceError) || error.isFinal) throw error
        if (!before && !(error instanceof UnavailableLeaderError)) throw error
        fault = error
      }
    }
    throw fault ?? new UnavailableLeaderError()
  }

  async #locate(): Promise<TopicLayout> {
    const layout = await this.#cluster.locateTopic()
    const { log = layout.log, offsets } = this.#request.position
    this.#log ??= log
    if (this.#log !== layout.log || offsets.size > layout.partitions) throw recreatedTopic()
    return layout
  }

  /** A partition that was not read before is read from its first message. */
  async #begin(): Promise<TopicLayout> {
    const layout = await this.#locate()
    for (const { place, partitions } of layout.leaders) {
      const connection = await this.#cluster.at(place)
      connection.version('list_offsets', 6, 6)
      const starts = await connection.request(requestStarts(this.#topic, partitions))
      for (const { partition } of partitions) {
        const start = starts.find((each) => each.partition === partition)
        if (!start) throw notKafka()
        if (start.error !== 0) throw describeErrorCode(start.error)
        if (!this.#next.has(partition)) this.#place(partition, start.offset)
      }
    }
    return layout
  }

  #place(partition: number, start: bigint): void {
    const name = String(partition)
    const known = this.#request.position.offsets.get(name)
    if (known !== undefined && known < start) this.#request.onGap({ partition: name, start: known, end: start })
    const isKnown = known !== undefined && known >= start
    const epoch = isKnown ? (this.#request.position.epochs.get(name) ?? -1) : -1
    this.#move({ partition, offset: isKnown ? known : start, epoch })
  }

  #move(next: NextOffset): void {
    this.#next.set(next.partition, next)
    const epoch = next.epoch < 0 ? undefined : next.epoch
    this.#request.onPlace({ partition: String(next.partition), offset: next.offset, epoch })
  }

  /** An answer of each leader. Returns the last fault that another try may not have. */
  async #round({ id, leaders }: TopicLayout, enough = Promise.resolve()): Promise<RowSourceError | undefined> {
    const began = performance.now()
    let fault: RowSourceError | undefined
    for (const leader of leaders) {
      if (this.#isOver) break
      try {
        await this.#fetch(id, leader, max_wait_ms / leaders.length)
      } catch (error) {
        if (!(error instanceof RowSourceError) || error.isFinal) throw error
        fault = error
      }
    }
    const left_ms = least_round_ms - (performance.now() - began)
    if (left_ms > 0) await Promise.race([wait(left_ms), enough])
    return fault
  }

  async #fetch(id: string, { place, partitions }: Leader, wait_ms: number): Promise<void> {
    const connection = await this.#cluster.at(place)
    const places: FetchPlace[] = partitions.map(({ partition, leader_epoch }) => {
      const { offset = 0n, epoch = -1 } = this.#next.get(partition) ?? {}
      return { partition, leader_epoch, offset, last_epoch: epoch }
    })
    // Those that were read last come last: an answer that is full with the first ones leaves none out for ever.
    places.sort((one, other) => this.#turnOf(one.partition) - this.#turnOf(other.partition))
    const version = connection.version('fetch', 12, id === no_topic_id ? 12 : 13)
    const limits = { max_wait_ms: Math.ceil(wait_ms), max_bytes: answer_bytes, partition_bytes }
    const answer = await connection.request(requestMessages(version, { name: this.#topic, id }, places, limits))
    if (answer.error !== 0) throw describeErrorCode(answer.error)
    const requested = new Set(places.map(({ partition }) => partition))
    let fault: RowSourceError | undefined
    for (const fetched of answer.partitions) {
      if (this.#isOver) return
      if (!requested.delete(fetched.partition)) throw notKafka()
      fault = (await this.#read(fetched)) ?? fault
    }
    if (fault) throw fault
  }

  readonly #turns = new Map<number, number>()
  #turn = 0
  #turnOf = (partition: number) => this.#turns.get(partition) ?? 0

  /** Returns a fault of the partition, where others may be read. */
  async #read(fetched: FetchedPartition): Promise<RowSourceError | undefined> {
    const { error, isDiverging, partition, records } = fetched
    if (error === error_codes.offset_out_of_range || isDiverging) throw await this.#explainLoss(partition, isDiverging)
    if (error !== 0) {
      const fault = describeErrorCode(error)
      if (fault.isFinal) throw fault
      return fault
    }
    if (records.length > 0) this.#turns.set(partition, ++this.#turn)
    this.#hand(fetched)
    return undefined
  }

  /** The broker may have removed messages since the reading began. */
  async #explainLoss(partition: number, isDiverging: boolean): Promise<Error> {
    const before = this.#next.get(partition)
    if (!before || isDiverging) return shortenedLog()
    const { leaders } = await this.#locate()
    const leader = leaders.find(({ partitions }) => partitions.some((each) => each.partition === partition))
    if (!leader) return notKafka()
    const led = leader.partitions.filter((each) => each.partition === partition)
    const [start] = await (await this.#cluster.at(leader.place)).request(requestStarts(this.#topic, led))
    if (start?.error !== 0 || start.offset <= before.offset) return shortenedLog()
    this.#request.onGap({ partition: String(partition), start: before.offset, end: start.offset })
    this.#move({ partition, offset: start.offset, epoch: -1 })
    return new UnavailableLeaderError()
  }

  #hand(fetched: FetchedPartition): void {
    const { partition } = fetched
    for (const batch of readBatches(fetched, this.#request.max_message_bytes)) {
      for (const record of batch.records) {
        const { offset: next = 0n } = this.#next.get(partition) ?? {}
        if (record.offset < next) continue
        if (this.#isOver || this.#give(partition, batch.leader_epoch, record) === 'leave') {
          this.#isOver = true
          return
        }
        const isLarge = record.bytes > this.#request.max_message_bytes
        const after = { partition, offset: record.offset + 1n, epoch: batch.leader_epoch }
        if (isLarge) this.#move(after)
        else this.#next.set(partition, after)
      }
      const { offset = 0n } = this.#next.get(partition) ?? {}
      if (batch.next > offset) this.#move({ partition, offset: batch.next, epoch: batch.leader_epoch })
    }
  }

  #give(partition: number, epoch: number, record: KafkaRecord): MessageFate {
    if (record.bytes > this.#request.max_message_bytes) return this.#request.onLarge()
    return this.#request.onMessage(describeRecord(partition, epoch, record))
  }
}
