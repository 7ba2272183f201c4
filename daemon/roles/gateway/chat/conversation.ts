// Loads and keeps the conversations of a caller: nobody else finds them, whatever rights it has.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { type ChatExchange, chatTraces, conversations, type StoredConversation } from './model.ts'
import { isAboveCeiling, keepExchanges, labelOfCaller, raiseLabel } from './rules.ts'
import { chatSettings } from './settings.ts'

export type OpenConversation = {
  readonly id: string
  readonly isNew: boolean
  readonly exchanges: readonly ChatExchange[]
}

/** `ceiling`: the highest level of data for this turn; undefined: that of the caller. */
export type ConversationTerms = { readonly owner: string; readonly ceiling: string | undefined }

/** Of the chat of everybody, and of that with the guidance layer: neither finds conversations of the other. */
export function ownerOf({ caller }: Pick<Call, 'caller'>, chat: 'everybody' | 'guidance'): string {
  return chat === 'guidance' ? `guide ${caller.subject}` : caller.subject
}

export async function openConversation(
  call: Call,
  id: string | undefined,
  { owner, ceiling }: ConversationTerms,
): Promise<OpenConversation | Refusal> {
  if (id === undefined) return { id: call.newId('conversation'), isNew: true, exchanges: [] }
  const doc = await call.store(conversations).find(id)
  if (!doc || doc.value.subject !== owner || doc.value.expires_ts <= call.now()) return noSuchObject('conversation')
  const { label, exchanges } = doc.value
  if (isAboveCeiling(label, call.site.labels.levels, ceiling))
    return refuse(
      'forbidden',
      'this conversation may have data above the level that a guardrail allows for chat: begin another one',
    )
  return { id, isNew: false, exchanges }
}

/** Durable when it resolves. */
export async function keepExchange(
  call: Call,
  { id, isNew }: OpenConversation,
  exchange: ChatExchange,
  { owner, ceiling }: ConversationTerms,
): Promise<void> {
  const { tenant_id } = call.caller
  const now = call.now()
  const expires_ts = now + call.settings(chatSettings).keep_days * 86_400_000
  const label = labelOfCaller(call.caller, call.site.labels, ceiling)
  if (isNew) {
    await makeRoom(call, owner)
    const value = { tenant_id, label, subject: owner, exchanges: [exchange], updated_ts: now, expires_ts }
    await call.store(conversations).create(id, value)
  } else
    await call.store(conversations).update(id, ({ value }) => ({
      next: continueConversation(value, { ...exchange }, raiseLabel(value.label, label, call.site.labels), expires_ts),
      answer: undefined,
    }))
}

/** Keeps the trace by which its caller may give feedback; durable when it resolves. */
export async function keepTrace(
  call: Call,
  conversation_id: string,
  { ceiling }: Pick<ConversationTerms, 'ceiling'>,
): Promise<void> {
  const { tenant_id, subject } = call.caller
  const expires_ts = call.now() + call.settings(chatSettings).keep_days * 86_400_000
  const label = labelOfCaller(call.caller, call.site.labels, ceiling)
  const { trace_id } = call.trace
  const trace = { tenant_id, label, subject, trace_id, conversation_id, expires_ts }
  // The trace of several messages is that of the first.
  await call.store(chatTraces).create(traceKey(call, trace_id), trace)
}

/** An id by which only its caller finds the trace. */
export function traceKey({ caller: { tenant_id, subject } }: Pick<Call, 'caller'>, trace_id: string): string {
  return sha256(JSON.stringify([tenant_id, subject, trace_id]))
}

function continueConversation(
  value: StoredConversation,
  exchange: ChatExchange,
  label: StoredConversation['label'],
  expires_ts: number,
): StoredConversation {
  const exchanges = keepExchanges([...value.exchanges, exchange])
  return { ...value, label, exchanges, updated_ts: exchange.at, expires_ts }
}

/** Removes the conversations of the owner whose last messages are the oldest, where it has as many as it may. */
async function makeRoom(call: Call, owner: string): Promise<void> {
  const { max_conversations } = call.settings(chatSettings)
  const store = call.store(conversations)
  const filter = { subject: owner }
  const excess = (await store.count(filter)) - max_conversations + 1
  if (excess <= 0) return
  const order = { field: 'updated_ts', direction: 'asc' } as const
  const { docs } = await store.list({ filter, order, limit: Math.min(excess, 100), fresh: true })
  for (const { id, version } of docs) await store.remove(id, [], version)
}
