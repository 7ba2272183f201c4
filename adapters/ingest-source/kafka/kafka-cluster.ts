// The brokers of a cluster of Kafka, as each other name them: one connection to each that leads a partition.
import type { Socket } from 'node:net'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { KafkaAccess } from './kafka-access.ts'
import { type BrokerPlace, KafkaConnection } from './kafka-connection.ts'
import { describeErrorCode, error_codes, notKafka, UnavailableLeaderError } from './kafka-errors.ts'
import { checkMechanism } from './sasl.ts'
import { type BrokerNode, no_topic_id, type PartitionLeader, requestMetadata } from './topic-requests.ts'

/** Partitions and brokers of a topic at most. */
const max_partitions = 4_096
const max_leaders = 256

export type TopicLayout = {
  /** Id of the topic, of 32 digits; of zeros where the brokers have none. */
  readonly id: string
  /** Of the topic, or else of the cluster. */
  readonly log?: string
  readonly leaders: readonly { readonly place: BrokerPlace; readonly partitions: readonly PartitionLeader[] }[]
  readonly partitions: number
}

export class KafkaCluster {
  readonly #access: KafkaAccess
  readonly #connections = new Map<string, KafkaConnection>()
  readonly #sockets = new Set<Socket>()
  #end: { readonly reason: unknown } | undefined

  constructor(access: KafkaAccess) {
    this.#access = access
    checkMechanism(access)
  }

  /** The topic with a leader of each partition. Throws `RowSourceError`; `UnavailableLeaderError` where one has none. */
  async locateTopic(): Promise<TopicLayout> {
    const connection = await this.any()
    const version = connection.version('metadata', 9, 12)
    const { brokers, cluster, topics } = await connection.request(requestMetadata(version, this.#access.topic))
    const [topic] = topics
    if (!topic || topics.length > 1) throw notKafka()
    if (topic.error !== 0) throw describeErrorCode(topic.error)
    const { partitions, id } = topic
    if (partitions.length === 0) throw new UnavailableLeaderError()
    if (partitions.length > max_partitions)
      throw new RowSourceError(`the topic has more than ${max_partitions} partitions`)
    if (new Set(partitions.map(({ partition }) => partition)).size < partitions.length) throw notKafka()
    const log = id === no_topic_id ? cluster : id
    const leaders = groupByLeader(partitions, brokers)
    return { id, ...(log !== null && { log: log.slice(0, 64) }), leaders, partitions: partitions.length }
  }

  /** A connection to any broker: an open one, or the first of those of the connection that answers. */
  async any(): Promise<KafkaConnection> {
    const open = [...this.#connections.values()].find(({ isUsable }) => isUsable)
    if (open) return open
    const { brokers, port } = this.#access
    let fault: unknown
    for (const host of brokers) {
      try {
        return await this.at({ host, port })
      } catch (error) {
        if (!(error instanceof RowSourceError) || error.isFinal) throw error
        fault = error
      }
    }
    throw fault
  }

  async at(place: BrokerPlace): Promise<KafkaConnection> {
    const name = `${place.host}:${place.port}`
    const known = this.#connections.get(name)
    if (known?.isUsable) return known
    known?.end(new Error('its proof is too old'))
    this.#throwIfEnded()
    const opened = await KafkaConnection.open(this.#access, place, (socket) => this.#keep(socket)).catch((error) => {
      this.#throwIfEnded()
      throw error
    })
    this.#connections.set(name, opened)
    return opened
  }

  /** Of connections that are being opened, too. */
  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #throwIfEnded(): void {
    if (this.#end) throw this.#end.reason
  }

  /** At once; requests that wait reject with the reason. */
  end(reason: unknown): void {
    this.#end ??= { reason }
    for (const connection of this.#connections.values()) connection.end(reason)
    for (const socket of this.#sockets) socket.destroy()
  }
}

function groupByLeader(partitions: readonly PartitionLeader[], brokers: readonly BrokerNode[]): TopicLayout['leaders'] {
  const byId = new Map(brokers.map((broker) => [broker.id, broker]))
  const groups = Map.groupBy(partitions, ({ leader }) => leader)
  if (groups.size > max_leaders) throw new RowSourceError(`the topic has more than ${max_leaders} brokers`)
  return [...groups].map(([leader, led]) => {
    const place = byId.get(leader)
    const denied = led.find(({ error }) => error === error_codes.topic_denied)
    if (denied) throw describeErrorCode(denied.error)
    if (!place) throw new UnavailableLeaderError()
    if (place.host === '' || place.port < 1 || place.port > 65_535) throw notKafka()
    return { place, partitions: led }
  })
}
