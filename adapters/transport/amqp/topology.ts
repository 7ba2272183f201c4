// Declares the site's objects at the broker: its exchange, and a queue and a dead-letter queue for each peer.
import type { Channel } from 'amqplib'

/** Deliveries without acknowledgement after which a message is dead: it breaks its reader. Classic queues do not count them. */
const delivery_limit = 1_000
/** Size limit of one queue; beyond it the broker refuses messages, and the sender keeps them. */
const max_queue_bytes = 1_073_741_824

/** A routing key is the name of the site that sends: a broker can hold its users to that. */
export function exchangeOf(prefix: string, site: string): string {
  return `${prefix}.${site}`
}

export type AmqpInbox = {
  readonly exchange: string
  readonly queue: string
  readonly dead_exchange: string
  readonly dead_queue: string
  /** The peer whose messages come here. */
  readonly key: string
}

/** Names of sites have no dot, so that no two of these are the same. */
export function inboxOf(prefix: string, site: string, peer: string): AmqpInbox {
  const exchange = exchangeOf(prefix, site)
  return {
    exchange,
    queue: `${exchange}.from.${peer}`,
    dead_exchange: `${exchange}.dead`,
    dead_queue: `${exchange}.dead.${peer}`,
    key: peer,
  }
}

/** `quorum`: on several nodes of a cluster. A kind of queue stays what it was made as. */
export type AmqpQueueType = 'classic' | 'quorum'

/** Declares missing exchanges, queues and bindings, all durable. Throws when one of the name exists in another form. */
export async function declareInbox(channel: Channel, inbox: AmqpInbox, type: AmqpQueueType): Promise<void> {
  const { exchange, queue, dead_exchange, dead_queue, key } = inbox
  const lasting = {
    'x-queue-type': type,
    // Messages beyond the limit are refused, never dropped.
    'x-overflow': 'reject-publish',
    'x-max-length-bytes': max_queue_bytes,
  }
  await channel.assertExchange(exchange, 'topic', { durable: true })
  await channel.assertExchange(dead_exchange, 'topic', { durable: true })
  // A sender must not block a peer by filling this queue: the oldest dead letter is dropped.
  await channel.assertQueue(dead_queue, { durable: true, arguments: { ...lasting, 'x-overflow': 'drop-head' } })
  await channel.bindQueue(dead_queue, dead_exchange, key)
  const dying = { 'x-dead-letter-exchange': dead_exchange, 'x-dead-letter-routing-key': key, ...queueArguments[type] }
  await channel.assertQueue(queue, { durable: true, arguments: { ...lasting, ...dying } })
  await channel.bindQueue(queue, exchange, key)
}

const queueArguments: Readonly<Record<AmqpQueueType, object>> = {
  classic: {},
  // The broker lets go of a dead letter only once the queue of dead letters has it.
  quorum: { 'x-delivery-limit': delivery_limit, 'x-dead-letter-strategy': 'at-least-once' },
}
