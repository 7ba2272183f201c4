// Sends messages to a site of an exchange. A repeat has the same event id, so that the message is sent once.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { shortenText } from '../../../../kernel/text/shorten-text.ts'
import { sendMessage } from '../../../../shared/site-message/site-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'
import { loadPieces } from '../piece/piece-sets.ts'
import type { ExchangeFailure } from '../progress/end-early.ts'
import { type ExchangeMessage, exchange_message_schema, max_end_reason_length } from './exchange-message.ts'

/** Sends one message; durable when it resolves. `event` names the message within this exchange and for this site. */
export async function sendExchangeMessage(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  to: string,
  event: string,
  message: ExchangeMessage,
): Promise<void> {
  await sendMessage(call, {
    peer: to,
    event_id: `resolution.exchange/${id}/${event}`,
    kind: 'resolution',
    schema: exchange_message_schema,
    body: message,
    label: value.label,
    parent_block_ids: [],
  })
}

export async function sendProposal(call: Call, doc: Doc<StoredExchange>, to: string): Promise<void> {
  const { agreement, label, sizes, keys } = doc.value
  const self = call.site.name
  // A linker must not receive the key.
  const key = agreement.parties.includes(to) ? keys[self] : undefined
  const message = { say: 'proposal' as const, agreement, classification: label, size: sizes[self] ?? 0 }
  await sendExchangeMessage(call, doc, to, 'proposal', key === undefined ? message : { ...message, key })
}

export async function sendAcceptance(call: Call, doc: Doc<StoredExchange>): Promise<void> {
  const { agreement, sizes, keys } = doc.value
  const self = call.site.name
  const message = { say: 'agreed' as const, ...buildExchangeRef(doc), size: sizes[self] ?? 0 }
  const key = keys[self]
  await sendExchangeMessage(
    call,
    doc,
    agreement.parties[0],
    'agreed',
    key === undefined ? message : { ...message, key },
  )
}

/** Sends all stored pieces of a round. */
export async function sendRound(call: Call, doc: Doc<StoredExchange>, round: ExchangeRound, to: string): Promise<void> {
  const pieces = await loadPieces(call, doc.id, call.site.name, round)
  if (!pieces) throw new Error(`the ${round} of ${doc.id} are not prepared`)
  for (const { number, of, items, data } of pieces) {
    call.signal.throwIfAborted()
    const content = round === 'records' ? { rows: JSON.parse(data) as string[][] } : { data }
    await sendExchangeMessage(call, doc, to, `${round}.${number}`, {
      say: 'piece',
      ...buildExchangeRef(doc),
      round,
      number,
      of,
      items,
      ...content,
    })
  }
}

export async function sendEnd(call: Call, doc: Doc<StoredExchange>, to: string): Promise<void> {
  const { code, reason } = redactFailure(doc.value)
  await sendExchangeMessage(call, doc, to, 'ended', {
    say: 'ended',
    ...buildExchangeRef(doc),
    code,
    reason: shortenText(reason, max_end_reason_length),
  })
}

/**
 * Returns the failure as other sites may see it: the reason of a person, and faults of their own data. Other failures
 * could reveal records, such as the number of matches.
 */
export function redactFailure({ state, failure }: Pick<StoredExchange, 'state' | 'failure'>): ExchangeFailure {
  if (!failure) return { code: 'cancelled', reason: 'the exchange was cancelled' }
  const isShareable = state !== 'failed' || ['invalid', 'over_budget', 'expired'].includes(failure.code)
  return isShareable ? failure : { code: 'failed', reason: 'the exchange failed at this site' }
}

function buildExchangeRef({ id, value }: Doc<StoredExchange>) {
  return { exchange_id: id, agreement_digest: value.agreement_digest }
}
