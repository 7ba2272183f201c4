// Carries messages between sites over a broker, which stores them: the two sites need not run at the same time.
import type { ConsumeMessage } from 'amqplib'
import type { CarriedMessage, Carrier, CarryOutcome } from '../../../daemon/kernel/messaging/carrier.ts'
import type { BrokerEndpoint } from '../../../daemon/kernel/network/broker.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { brokerConnection } from './broker-connection.ts'
import { describeBrokerError } from './broker-error.ts'
import { type AmqpParcelLimits, encodeParcel } from './message.ts'
import { type BrokerPublisher, brokerPublisher, type PublishOutcome } from './publisher.ts'
import { type PeerReader, peerReader } from './reader.ts'
import { type AmqpInbox, type AmqpQueueType, exchangeOf, inboxOf } from './topology.ts'

export type AmqpOptions = {
  readonly broker: BrokerEndpoint
  readonly password: string | undefined
  /** This site's name. */
  readonly site: string
  readonly prefix: string
  readonly queue_type: AmqpQueueType
  /** Peers, each with the user that alone may send for it, where that is settled. */
  readonly peers: Readonly<Record<string, { readonly user?: string | undefined }>>
  readonly limits: AmqpParcelLimits
  readonly log: Log
  /** How long to wait after so many failures, in milliseconds. */
  readonly wait_ms: (failures: number) => number
}

const dead_letter_timeout_ms = 15_000

/**
 * A message is `landed` when the broker has confirmed that it is on disk. The broker delivers it until the peer's site
 * acknowledges it. Inventories of file-drop detect messages that were lost with the broker's disk; they are resent.
 */
export function amqpCarrier(options: AmqpOptions): Carrier {
  const { broker, password, site, prefix, peers, log } = options
  const linkTo = (what: string) => brokerConnection(broker, () => password, `platform ${site}: ${what}`)
  const outgoing = linkTo('sends')
  const publishers = new Map(Object.keys(peers).map((peer) => [peer, brokerPublisher(outgoing)]))
  const troubles = new Map<string, string>()
  const readers = new Map<string, PeerReader>()
  return {
    name: 'amqp',
    peers: Object.keys(peers),
    async carry(peer, parcels, signal) {
      const publisher = publishers.get(peer)
      if (!publisher) throw new Error(`no broker is configured for ${peer}`)
      try {
        const landings = await publishParcels(publisher, parcels, options, peer, signal)
        troubles.delete(peer)
        return landings
      } catch (error) {
        troubles.set(peer, describeBrokerError(error))
        throw new Error(describeBrokerError(error))
      }
    },
    async start(land, judged) {
      const of_peers = Object.keys(peers).length
      for (const [peer, { user }] of Object.entries(peers)) {
        const inbox = inboxOf(prefix, site, peer)
        const deadLetterPublisher = brokerPublisher(outgoing)
        const bury = (message: ConsumeMessage, reason: string, detail: string) =>
          publishDeadLetter(inbox, deadLetterPublisher, message, { reason, detail })
        const reading = linkTo(`reads from ${peer}`)
        readers.set(
          peer,
          peerReader({
            ...options,
            peer,
            peer_count: of_peers,
            user,
            inbox,
            connection: reading,
            deadLetter: bury,
            land,
            judged,
            log,
          }),
        )
      }
    },
    async health() {
      const troubleTexts = Object.keys(peers).flatMap((peer) => [
        ...describeTrouble(peer, 'receives nothing', readers.get(peer)?.trouble()),
        ...describeTrouble(peer, 'is sent nothing', troubles.get(peer)),
      ])
      return troubleTexts.length === 0
        ? { ok: true, detail: 'connected' }
        : { ok: false, detail: troubleTexts.join('; ') }
    },
    async stop() {
      await Promise.all([...readers.values()].map((each) => each.stop()))
      await outgoing.close()
    },
  }
}

function describeTrouble(peer: string, what: string, trouble: string | undefined): string[] {
  return trouble === undefined ? [] : [`${peer} ${what}: ${trouble}`]
}

async function publishParcels(
  publisher: BrokerPublisher,
  parcels: readonly CarriedMessage[],
  { prefix, site, broker }: AmqpOptions,
  peer: string,
  signal: AbortSignal,
): Promise<CarryOutcome[]> {
  const exchange = exchangeOf(prefix, peer)
  const drafts = parcels.map((parcel) => encodeParcel(parcel, exchange, site, broker.user))
  const outcomes = await publisher.publish(drafts, signal)
  if (outcomes.includes('unroutable')) throw new Error(`${peer} has no queue for messages from ${site} at the broker`)
  return outcomes.map((outcome) => toLanding(outcome))
}

function toLanding(outcome: PublishOutcome): CarryOutcome {
  return outcome === 'confirmed' ? 'landed' : 'full'
}

/** Describes the message and its fault in headers of this site's own; the content is unchanged. */
async function publishDeadLetter(
  { dead_exchange, key }: AmqpInbox,
  deadLetterPublisher: BrokerPublisher,
  { content, properties }: ConsumeMessage,
  why: { readonly reason: string; readonly detail: string },
): Promise<void> {
  const claims = { type: properties.type, id: properties.messageId, user: properties.userId }
  const headers = { ...why, ...Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)) }
  const draft = { exchange: dead_exchange, key, content, properties: { headers, type: 'platform.dead.1' } }
  const [outcome] = await deadLetterPublisher.publish([draft], AbortSignal.timeout(dead_letter_timeout_ms))
  if (outcome !== 'confirmed') throw new Error(`the broker did not store a dead letter: ${outcome}`)
}
