// Selects the signals of a bulk disposition: those that the caller may see, at one moment.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import { buildFilter } from '../signal/list-signals.ts'
import { type SignalStatus, type StoredSignal, signalStatus, signals } from '../signal/model.ts'
import { bulkSelection } from './model.ts'

const selectionSchema = z.object(bulkSelection)
export type SignalSelection = z.output<typeof selectionSchema>

/** A selected signal; without a document where the caller may see no such signal. */
export type SelectedSignal = { readonly signal_id: string; readonly doc?: Doc<StoredSignal> | undefined }

const page_size = 500

/** Refuses `invalid` unless exactly one of the two ways of selection is used. */
export function checkSelection({ signal_ids, filter }: SignalSelection): Refusal | undefined {
  if ((signal_ids === undefined) !== (filter === undefined)) return undefined
  const fault = { path: 'signal_ids', message: 'exactly one of signal_ids and filter is required' }
  return refuse('invalid', 'give either signal_ids or filter', [fault])
}

/** Selects each signal once: at most `max_count`, and one more to show an excess. */
export async function selectSignals(
  call: Call,
  { signal_ids, filter }: SignalSelection,
  max_count: number,
): Promise<SelectedSignal[]> {
  if (!filter) return await findNamedSignals(call, [...new Set(signal_ids)].slice(0, max_count + 1))
  const selected: SelectedSignal[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(page_size, max_count + 1 - selected.length)
    const position = cursor === undefined ? {} : { cursor }
    const page = await call.store(signals).list({ filter: buildFilter(filter), limit, fresh: true, ...position })
    selected.push(...page.docs.map((doc) => ({ signal_id: doc.id, doc })))
    cursor = page.next_cursor
  } while (cursor !== undefined && selected.length <= max_count)
  return selected
}

async function findNamedSignals(call: Call, signal_ids: readonly string[]): Promise<SelectedSignal[]> {
  const selected: SelectedSignal[] = []
  for (let at = 0; at < signal_ids.length; at += page_size) {
    const part = signal_ids.slice(at, at + page_size)
    const docs = await Promise.all(part.map((signal_id) => call.store(signals).find(signal_id)))
    selected.push(...part.map((signal_id, place) => ({ signal_id, doc: docs[place] })))
  }
  return selected
}

type SignalStatusCounts = ReadonlyMap<SignalStatus, number>

/**
 * Counts signals by status, without limit; signals that the caller may not see do not count. `unmerged`: without merged
 * signals, which cannot change by themselves.
 */
export async function countStatuses(
  call: Call,
  { signal_ids, filter }: SignalSelection,
): Promise<{ readonly all: SignalStatusCounts; readonly unmerged: SignalStatusCounts }> {
  if (!filter) {
    const docs = (await findNamedSignals(call, [...new Set(signal_ids)])).flatMap(({ doc }) => doc ?? [])
    return { all: countLoaded(docs), unmerged: countLoaded(docs.filter(({ value }) => !value.merge)) }
  }
  const conditions = buildFilter(filter)
  const all = await countStored(call, conditions)
  if (filter.visibility === 'merged') return { all, unmerged: new Map() }
  // A filter by subject also matches merged signals.
  const unmerged =
    filter.subject_id === undefined ? all : await countStored(call, { ...conditions, visibility: filter.visibility })
  return { all, unmerged }
}

function countLoaded(docs: readonly Doc<StoredSignal>[]): SignalStatusCounts {
  const groups = Map.groupBy(docs, ({ value }) => value.status)
  return new Map([...groups].map(([status, { length }]) => [status, length]))
}

async function countStored(call: Call, conditions: Filter): Promise<SignalStatusCounts> {
  const selected = await call.store(signals).countBy('status', conditions)
  return new Map([...selected].map(([status, count]) => [signalStatus.parse(status), count]))
}
