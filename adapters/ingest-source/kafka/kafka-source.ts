// Messages of a topic of Kafka. Its place in the topic is kept by the reader; a group of the connection is notified of it.
import { setTimeout as wait } from 'node:timers/promises'
import type { MessageSource } from '../../../daemon/shared/message-source/message-source.ts'
import { commitOffsets, findCoordinator } from './group-requests.ts'
import type { KafkaAccess } from './kafka-access.ts'
import { KafkaCluster } from './kafka-cluster.ts'
import { describeErrorCode, noAnswer, notKafka, UnavailableCoordinatorError } from './kafka-errors.ts'
import { TopicReading } from './topic-reading.ts'
import { MalformedBytesError } from './wire-reader.ts'

/** Throws `RowSourceError`. */
export function kafkaSource(access: KafkaAccess): MessageSource {
  const cluster = new KafkaCluster(access)
  let reading: TopicReading | undefined
  return {
    async probe(signal) {
      return await endBySignal(cluster, signal, () => probeTopic(cluster, access.topic))
    },
    async receive(request, isEnough, signal) {
      const begun = new TopicReading(cluster, access.topic, request)
      reading = begun
      await endBySignal(cluster, signal, () => begun.run(isEnough))
    },
    async acknowledge() {
      if (access.group !== undefined && reading && reading.next.length > 0)
        await commitWhenReady(cluster, access.group, access.topic, reading)
    },
    async close() {
      cluster.end(noAnswer())
    },
  }
}

async function endBySignal<T>(cluster: KafkaCluster, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const abort = () => cluster.end(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof MalformedBytesError ? notKafka() : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** One answer of each broker that leads a partition, by the right to read. */
async function probeTopic(cluster: KafkaCluster, topic: string): Promise<string> {
  const nothing = { offsets: new Map(), epochs: new Map() }
  const request = { max_messages: 1, max_message_bytes: 1, position: nothing, ...ignoreAll }
  const reading = new TopicReading(cluster, topic, request)
  await reading.probe()
  const { length } = reading.next
  return `a topic with ${length} partition${length === 1 ? '' : 's'}`
}

const ignoreAll = {
  ...{ onOpen: () => undefined, onPlace: () => undefined, onGap: () => undefined },
  ...{ onMessage: () => 'leave' as const, onLarge: () => 'leave' as const },
}

const max_commits = 8

/** The broker of the first group of a cluster makes their topic, which takes it a second. */
async function commitWhenReady(
  cluster: KafkaCluster,
  group: string,
  topic: string,
  reading: TopicReading,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await commit(cluster, group, topic, reading)
      return
    } catch (error) {
      if (!(error instanceof UnavailableCoordinatorError) || tries === max_commits) throw error
      await wait(50 * 2 ** tries)
    }
  }
}

/** The lag that others watch is that of what has landed. */
async function commit(cluster: KafkaCluster, group: string, topic: string, { next }: TopicReading): Promise<void> {
  const any = await cluster.any()
  any.version('find_coordinator', 3, 3)
  const { error, host, port } = await any.request(findCoordinator(group))
  if (error !== 0) throw describeErrorCode(error)
  const coordinator = await cluster.at({ host, port })
  coordinator.version('offset_commit', 8, 8)
  const errors = await coordinator.request(commitOffsets(group, topic, next))
  const fault = errors.find((each) => each !== 0)
  if (fault !== undefined) throw describeErrorCode(fault)
}
