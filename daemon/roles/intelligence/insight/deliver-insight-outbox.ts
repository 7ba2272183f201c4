// Delivers the outbox of an insight: ledger events and updates of linked signals. Every delivery may be repeated.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { ledgerEventId, ledgerEvents } from '../ledger/model.ts'
import { changeSignal } from '../signal/change-signal.ts'
import type { StoredSignal } from '../signal/model.ts'
import { addInsightLink, beginInvestigation, removeInheritedLink, resolveByEdition } from '../signal/rules.ts'
import { changeInsight, changeInsightWithSignals } from './change-insight.ts'
import { closeByEdition } from './closing/rules.ts'
import { type InsightOutboxEntry, insights, type StoredInsight } from './model.ts'
import { removeFromOutbox } from './outbox/rules.ts'
import { dropUncoveredLink } from './rules.ts'

/** Number of deliveries before the insight is updated, since each update writes it whole. */
const batch_size = 50

/** Delivers in order until the outbox is empty or the call ends. Throws if a delivery fails now; the rest stays pending. */
export async function deliverInsightOutbox(call: Call, doc: Doc<StoredInsight>): Promise<void> {
  const delivered = new Set<string>()
  try {
    for (const entry of doc.value.pending) {
      if (call.signal.aborted) return
      // Only after all earlier deliveries are recorded.
      if (entry.type === 'close') await markDelivered(call, doc.id, delivered)
      const refusal = await deliverEntry(call, doc, entry)
      delivered.add(entry.id)
      // The outbox has changed: this document is stale.
      if (refusal) return
      if (delivered.size >= batch_size) await markDelivered(call, doc.id, delivered)
    }
  } finally {
    await markDelivered(call, doc.id, delivered)
  }
}

async function markDelivered(call: Call, insight_id: string, delivered: Set<string>): Promise<void> {
  if (delivered.size === 0) return
  const { doc } = await call
    .store(insights)
    .update(insight_id, ({ value }) => ({ next: removeFromOutbox(value, delivered), answer: undefined }))
  delivered.clear()
  if (doc.value.owes) call.wake('relay')
}

async function deliverEntry(
  call: Call,
  doc: Doc<StoredInsight>,
  entry: InsightOutboxEntry,
): Promise<Refusal | undefined> {
  if (entry.type !== 'event' && entry.type !== 'close') {
    const delivered = await deliverToSignal(call, doc, entry)
    return isRefusal(delivered) ? delivered : undefined
  }
  if (entry.type === 'event') await deliverEvent(call, doc, entry)
  else await deliverClosing(call, doc, entry)
  return undefined
}

async function deliverEvent(
  call: Call,
  { id, value }: Doc<StoredInsight>,
  entry: Extract<InsightOutboxEntry, { type: 'event' }>,
) {
  const { tenant_id, label } = value
  const { seq } = entry.event
  const stored = { tenant_id, label, insight_id: id, seq, event: entry.event }
  await call.store(ledgerEvents).create(ledgerEventId(id, seq), stored)
}

async function deliverClosing(
  call: Call,
  { id }: Doc<StoredInsight>,
  { edition_id, by }: Extract<InsightOutboxEntry, { type: 'close' }>,
) {
  const delivered = await changeInsightWithSignals(
    call,
    id,
    { edition_id, by },
    (current, signalStates) => closeByEdition(current, edition_id, signalStates, { by, at: call.nowIso() }),
    'intelligence.insight.closed',
  )
  if (isRefusal(delivered)) throw delivered
}

type InsightSignalEntry = Extract<InsightOutboxEntry, { signal_id: string }>

/**
 * Acts in the name of the person who decided, at the time of delivery. Refuses `label_denied` for a link of a signal
 * whose label has risen above the insight since; the insight has then dropped the link. Throws when the signal cannot
 * be reached.
 */
export async function deliverToSignal(
  call: Call,
  { id, value }: Pick<Doc<StoredInsight>, 'id' | 'value'>,
  entry: InsightSignalEntry,
): Promise<Doc<StoredSignal> | Refusal> {
  const rule = (current: StoredSignal): StoredSignal | Refusal => {
    const action = { by: entry.by, at: call.nowIso() }
    if (entry.type === 'advance')
      return beginInvestigation(current, { ...action, rationale: 'the investigation of a linked insight has begun' })
    if (entry.type === 'unfollow')
      return removeInheritedLink(current, id, entry.via, {
        ...action,
        rationale: 'the merged signal that brought the link was unmerged',
      })
    if (entry.type === 'follow') {
      if (!mayFollow(call, { id, value }, current))
        return refuse('label_denied', 'the label of the insight no longer covers the label of the signal')
      const { told, via } = entry
      const { rationale = via === undefined ? 'linked to an insight' : 'linked as the survivor of a linked signal' } =
        entry
      const link = { insight_id: id, label: value.label, told, ...(via === undefined ? {} : { via: [via] }) }
      return addInsightLink(current, link, { ...action, rationale })
    }
    const by = { edition_id: entry.edition_id, insight_id: id }
    return resolveByEdition(current, by, {
      ...action,
      rationale: 'the closing edition of its investigation was attested',
    })
  }
  const delivered = await changeSignal(call, entry.signal_id, rule, `intelligence.signal.${entry.type}`)
  if (isRefusal(delivered)) await dropLink(call, id, entry)
  return delivered
}

function mayFollow(call: Call, { id, value }: Pick<Doc<StoredInsight>, 'id' | 'value'>, signal: StoredSignal): boolean {
  return signal.links.some((each) => each.insight_id === id) || isCoveredBy(signal.label, value.label, call.site.labels)
}

async function dropLink(call: Call, insight_id: string, { signal_id, by }: InsightSignalEntry): Promise<void> {
  const rule = (current: StoredInsight) => dropUncoveredLink(current, signal_id, { by, at: call.nowIso() })
  await changeInsight(call, insight_id, { signal_id, by }, rule, 'intelligence.insight.link-dropped')
}
