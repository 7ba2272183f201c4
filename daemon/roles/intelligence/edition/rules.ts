// Pure rules for the editions of an insight: adding a draft and attesting it.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { checkMayClose } from '../insight/closing/rules.ts'
import { type InsightOutboxEntry, max_editions, type StoredInsight } from '../insight/model.ts'
import { addToOutbox, recordLedgerEvents } from '../insight/outbox/rules.ts'
import { checkNotClosed, type LinkedSignalStates, listUnmergedLinks } from '../insight/rules.ts'
import type { NewLedgerEvent } from '../ledger/model.ts'
import type { AttributedAction } from '../signal/rules.ts'
import type { StoredEdition } from './model.ts'

/** Adds an edition; a repeat makes no change. Refuses `idempotency_mismatch`, and `wrong_state` if the insight is closed or full. */
export function addEdition(current: StoredInsight, edition: StoredEdition): StoredInsight | Refusal {
  const existing = current.editions.find(({ edition_id }) => edition_id === edition.edition_id)
  if (existing?.request_digest === edition.request_digest) return current
  if (existing) return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  const refusal = checkNotClosed(current)
  if (refusal) return refusal
  if (current.editions.length >= max_editions)
    return refuse('wrong_state', `the insight has ${max_editions} editions, the maximum`)
  return { ...current, updated_at: edition.created_at, editions: [...current.editions, edition] }
}

/**
 * Attests an edition. A closing edition resolves every signal under investigation, and then closes the insight. Refuses
 * `not_found`, and `wrong_state` for an attested edition, an insight not under investigation, or signals that it cannot resolve.
 */
export function attestEdition(
  current: StoredInsight,
  edition_id: string,
  signalStates: LinkedSignalStates,
  action: AttributedAction,
): StoredInsight | Refusal {
  const edition = current.editions.find((each) => each.edition_id === edition_id)
  if (!edition) return refuse('not_found', 'the insight has no edition with this id')
  if (edition.attested) return refuse('wrong_state', 'the edition is already attested')
  const refusal = checkNotClosed(current) ?? (edition.closes ? checkMayClose(current, signalStates) : undefined)
  if (refusal) return refusal
  const editions = current.editions.map((each) => (each === edition ? { ...each, attested: action } : each))
  const { by, at } = action
  const event: NewLedgerEvent = { type: 'edition_attested', by, at, edition_id, closes: edition.closes }
  const next = recordLedgerEvents({ ...current, editions, updated_at: at }, [event])
  if (!edition.closes) return next
  const resolving = listUnmergedLinks(current, signalStates).map(
    ({ signal_id }): InsightOutboxEntry => ({ type: 'resolve', id: `resolve:${signal_id}`, signal_id, edition_id, by }),
  )
  const closing: InsightOutboxEntry = { type: 'close', id: 'close', edition_id, by }
  return addToOutbox({ ...next, closing_edition_id: edition_id }, [...resolving, closing])
}
