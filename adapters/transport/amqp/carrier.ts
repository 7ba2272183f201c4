// Messages between sites by a broker: it keeps what is on its way, so that the two need not be up at the same time.
import type { ConsumeMessage } from 'amqplib'
import type { Broker } from '../../../daemon/kernel/broker.ts'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Carrier, Landing, Parcel } from '../../../daemon/kernel/carrier.ts'
import { link } from './link.ts'
import { draftOf, type Limits } from './message.ts'
import { type Outcome, type Publisher, publisher } from './publisher.ts'
import { type Reader, reader } from './reader.ts'
import { exchangeOf, type Inbox, inboxOf, type QueueType } from './topology.ts'
import { troubleOf } from './trouble.ts'

export type AmqpOptions = {
  readonly broker: Broker
  readonly password: string | undefined
  /** This site's name. */
  readonly site: string
  readonly prefix: string
  readonly queue_type: QueueType
  /** Peers, each with the user that alone may send for it, where that is settled. */
  readonly peers: Readonly<Record<string, { readonly user?: string | undefined }>>
  readonly limits: Limits
  readonly log: Log
  /** How long to wait after so many failures, in milliseconds. */
  readonly wait_ms: (failures: number) => number
}

const bury_timeout_ms = 15_000

/**
 * `landed` is what the broker has confirmed: it has it on disk, and brings it to the peer's site as often as that has not
 * acknowledged it. What a broker loses with its disk, file-drop's inventories find and a resend brings again.
 */
export function amqpCarrier(options: AmqpOptions): Carrier {
  const { broker, password, site, prefix, peers, log } = options
  const linkTo = (what: string) => link(broker, () => password, `platform ${site}: ${what}`)
  const outgoing = linkTo('sends')
  const lines = new Map(Object.keys(peers).map((peer) => [peer, publisher(outgoing)]))
  const troubles = new Map<string, string>()
  const readers = new Map<string, Reader>()
  return {
    name: 'amqp',
    peers: Object.keys(peers),
    async carry(peer, parcels, signal) {
      const line = lines.get(peer)
      if (!line) throw new Error(`no broker leads to ${peer}`)
      try {
        const landings = await send(line, parcels, options, peer, signal)
        troubles.delete(peer)
        return landings
      } catch (error) {
        troubles.set(peer, troubleOf(error))
        throw new Error(troubleOf(error))
      }
    },
    async start(land, judged) {
      const of_peers = Object.keys(peers).length
      for (const [peer, { user }] of Object.entries(peers)) {
        const inbox = inboxOf(prefix, site, peer)
        const burial = publisher(outgoing)
        const bury = (message: ConsumeMessage, reason: string, detail: string) =>
          buryIn(inbox, burial, message, { reason, detail })
        const reading = linkTo(`reads from ${peer}`)
        readers.set(peer, reader({ ...options, peer, of_peers, user, inbox, link: reading, bury, land, judged, log }))
      }
    },
    async health() {
      const said = Object.keys(peers).flatMap((peer) => [
        ...wordsOf(peer, 'receives nothing', readers.get(peer)?.trouble()),
        ...wordsOf(peer, 'is sent nothing', troubles.get(peer)),
      ])
      return said.length === 0 ? { ok: true, detail: 'connected' } : { ok: false, detail: said.join('; ') }
    },
    async stop() {
      await Promise.all([...readers.values()].map((each) => each.stop()))
      await outgoing.close()
    },
  }
}

function wordsOf(peer: string, what: string, trouble: string | undefined): string[] {
  return trouble === undefined ? [] : [`${peer} ${what}: ${trouble}`]
}

async function send(
  line: Publisher,
  parcels: readonly Parcel[],
  { prefix, site, broker }: AmqpOptions,
  peer: string,
  signal: AbortSignal,
): Promise<Landing[]> {
  const exchange = exchangeOf(prefix, peer)
  const drafts = parcels.map((parcel) => draftOf(parcel, exchange, site, broker.user))
  const outcomes = await line.publish(drafts, signal)
  if (outcomes.includes('unroutable')) throw new Error(`${peer} has no queue for messages from ${site} at the broker`)
  return outcomes.map((outcome) => landingOf(outcome))
}

function landingOf(outcome: Outcome): Landing {
  return outcome === 'confirmed' ? 'landed' : 'full'
}

/** What it was, and why it is there, in headers of this site's own; the content as it came. */
async function buryIn(
  { dead_exchange, key }: Inbox,
  burial: Publisher,
  { content, properties }: ConsumeMessage,
  why: { readonly reason: string; readonly detail: string },
): Promise<void> {
  const claims = { type: properties.type, id: properties.messageId, user: properties.userId }
  const headers = { ...why, ...Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)) }
  const draft = { exchange: dead_exchange, key, content, about: { headers, type: 'platform.dead.1' } }
  const [outcome] = await burial.publish([draft], AbortSignal.timeout(bury_timeout_ms))
  if (outcome !== 'confirmed') throw new Error(`the broker says: ${outcome}`)
}
