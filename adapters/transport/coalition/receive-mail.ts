// Receives the messages that wait at the hub: lands each one, then acknowledges it to the hub.

import type { CarriedMessage, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { HubClient, MailPage } from './hub-client.ts'
import { errorText } from './keep-connected.ts'

export type MailReceiverOptions = {
  readonly hub: Pick<HubClient, 'waiting' | 'acknowledge'>
  readonly peers: readonly string[]
  readonly land: MessageReceiver
  readonly log: Log
  readonly signal: AbortSignal
  /** By peer, the message that was last reported as larger than this site accepts. */
  readonly reported_oversized: Map<string, string>
}

/** Pages that a busy peer may use before all peers are polled again, so that it cannot block the others. */
const pages_per_turn = 4

/**
 * Receives the waiting messages page by page, alternating between the peers, until no peer has more. Messages that this
 * site cannot accept now stay at the hub and do not block other peers. Throws when the hub fails.
 */
export async function receiveMail(options: MailReceiverOptions): Promise<void> {
  let busy: readonly MailboxPosition[] = []
  do
    busy = await receiveTurn(
      options.peers.map((peer) => busy.find((each) => each.peer === peer) ?? { peer }),
      options,
    )
  while (busy.length > 0)
}

/** Positions of the peers with more pages. */
async function receiveTurn(
  all: readonly MailboxPosition[],
  options: MailReceiverOptions,
): Promise<readonly MailboxPosition[]> {
  let waiting = all
  for (let turn = 0; turn < pages_per_turn && waiting.length > 0; turn++) {
    const next: MailboxPosition[] = []
    for (const each of waiting) next.push(...(await receivePage(each, options)))
    waiting = next
  }
  return waiting
}

/** A mailbox that may hold more, from where it was read to. */
type MailboxPosition = { readonly peer: string; readonly cursor?: string }

/** The position of the next page of the peer; empty at the end, and when the site accepts no more of its messages now. */
async function receivePage(
  { peer, cursor }: MailboxPosition,
  options: MailReceiverOptions,
): Promise<MailboxPosition[]> {
  const { hub, land, log, signal } = options
  const { items, next_cursor } = await hub.waiting(peer, cursor, signal)
  const rest = next_cursor === undefined ? [] : [{ peer, cursor: next_cursor }]
  const foreign = items.filter(({ from }) => from !== peer)
  if (foreign.length > 0) throw new Error('the hub returned messages of another peer')
  if (items.length === 0) return rest
  let landings: Awaited<ReturnType<MessageReceiver>>
  try {
    landings = await land(peer, items.map(toParcel))
  } catch (error) {
    log.warn('carrier.peer.landing_failed', { peer, carrier: 'coalition', detail: errorText(error) })
    return []
  }
  const landed = items.filter((_, index) => landings[index] === 'landed').map(({ id }) => id)
  logOversized(
    peer,
    items.find((_, index) => landings[index] === 'too_large'),
    options,
  )
  if (landed.length > 0) await hub.acknowledge(landed, signal)
  return landings.includes('full') ? [] : rest
}

/** The message stays at the hub until it expires there. It is reported once, and not at each poll. */
function logOversized(
  peer: string,
  item: MailPage['items'][number] | undefined,
  { reported_oversized, log }: MailReceiverOptions,
): void {
  if (!item || reported_oversized.get(peer) === item.id) return
  reported_oversized.set(peer, item.id)
  log.warn('carrier.message.too_large', { peer, carrier: 'coalition', epoch: item.epoch, seq: item.seq })
}

function toParcel({ epoch, seq, envelope, body }: MailPage['items'][number]): CarriedMessage {
  return { epoch, seq, envelope: Buffer.from(envelope, 'base64'), body: Buffer.from(body, 'base64') }
}
