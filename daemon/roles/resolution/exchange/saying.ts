// Says something to a site of an exchange; the same again finds what was said.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import { sitesOf } from './agreement.ts'
import type { Failure } from './ending.ts'
import { type Sent, schema } from './messages.ts'
import type { Round, StoredExchange } from './model.ts'
import { piecesOf } from './pieces.ts'

/** Durable when it resolves. `event`: what is said, within this exchange and to this site. */
export async function say(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  to: string,
  event: string,
  sent: Sent,
): Promise<void> {
  await call.others.send({
    peer: to,
    event_id: `resolution.exchange/${id}/${event}`,
    kind: 'resolution',
    schema,
    body: sent,
    label: value.label,
    parent_block_ids: [],
  })
}

export async function sayProposal(call: Call, doc: Doc<StoredExchange>, to: string): Promise<void> {
  const { agreement, label, sizes, keys } = doc.value
  const self = call.site.name
  // A linker has no business with the key.
  const key = agreement.parties.includes(to) ? keys[self] : undefined
  const sent = { say: 'proposal' as const, agreement, classification: label, size: sizes[self] ?? 0 }
  await say(call, doc, to, 'proposal', key === undefined ? sent : { ...sent, key })
}

export async function sayAgreed(call: Call, doc: Doc<StoredExchange>): Promise<void> {
  const { agreement, sizes, keys } = doc.value
  const self = call.site.name
  const sent = { say: 'agreed' as const, ...about(doc), size: sizes[self] ?? 0 }
  const key = keys[self]
  await say(call, doc, agreement.parties[0], 'agreed', key === undefined ? sent : { ...sent, key })
}

/** All pieces of a round that this site has kept for it. */
export async function sayRound(call: Call, doc: Doc<StoredExchange>, round: Round, to: string): Promise<void> {
  const pieces = await piecesOf(call, doc.id, call.site.name, round)
  if (!pieces) throw new Error(`the ${round} of ${doc.id} are not prepared`)
  for (const { number, of, items, data } of pieces) {
    const carried = round === 'records' ? { rows: JSON.parse(data) as string[][] } : { data }
    await say(call, doc, to, `${round}.${number}`, {
      say: 'piece',
      ...about(doc),
      round,
      number,
      of,
      items,
      ...carried,
    })
  }
}

export async function sayEnded(call: Call, doc: Doc<StoredExchange>, to: string): Promise<void> {
  const { code, reason } = toldOf(doc.value)
  await say(call, doc, to, 'ended', { say: 'ended', ...about(doc), code, reason: reason.slice(0, 1_024) })
}

/** What a person says to the others, and what was wrong with theirs. All else could tell of records: how many match, for one. */
export function toldOf({ state, failure }: Pick<StoredExchange, 'state' | 'failure'>): Failure {
  if (!failure) return { code: 'cancelled', reason: 'it was cancelled' }
  const isForThem = state !== 'failed' || ['invalid', 'over_budget', 'expired'].includes(failure.code)
  return isForThem ? failure : { code: 'failed', reason: 'it failed here' }
}

function about({ id, value }: Doc<StoredExchange>) {
  return { exchange_id: id, agreement_digest: value.agreement_digest }
}

export function others(call: Call, { agreement }: Pick<StoredExchange, 'agreement'>): string[] {
  return sitesOf(agreement).filter((site) => site !== call.site.name)
}
