// Which signals a bulk disposition is about: those that the caller may know of, chosen at one moment.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import { buildFilter } from '../signal/list-signals.ts'
import { type SignalStatus, type StoredSignal, signalStatus, signals } from '../signal/model.ts'
import { bulkSelection } from './model.ts'

const selectionSchema = z.object(bulkSelection)
export type SignalSelection = z.output<typeof selectionSchema>

/** A signal that was chosen; without a document where there is none that the caller may know of. */
export type SelectedSignal = { readonly signal_id: string; readonly doc?: Doc<StoredSignal> | undefined }

const page_size = 500

/** Refuses `invalid` where both were said, or neither. */
export function checkSelection({ signal_ids, filter }: SignalSelection): Refusal | undefined {
  if ((signal_ids === undefined) !== (filter === undefined)) return undefined
  const fault = { path: 'signal_ids', message: 'or filter: one of them' }
  return refuse('invalid', 'give either signal_ids or filter', [fault])
}

/** Each once, at most `most` and one more, so that too many show. */
export async function selectSignals(
  call: Call,
  { signal_ids, filter }: SignalSelection,
  max_count: number,
): Promise<SelectedSignal[]> {
  if (!filter) return await findNamedSignals(call, [...new Set(signal_ids)].slice(0, max_count + 1))
  const found: SelectedSignal[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(page_size, max_count + 1 - found.length)
    const more = cursor === undefined ? {} : { cursor }
    const page = await call.store(signals).list({ filter: buildFilter(filter), limit, fresh: true, ...more })
    found.push(...page.docs.map((doc) => ({ signal_id: doc.id, doc })))
    cursor = page.next_cursor
  } while (cursor !== undefined && found.length <= max_count)
  return found
}

async function findNamedSignals(call: Call, signal_ids: readonly string[]): Promise<SelectedSignal[]> {
  const found: SelectedSignal[] = []
  for (let at = 0; at < signal_ids.length; at += page_size) {
    const part = signal_ids.slice(at, at + page_size)
    const docs = await Promise.all(part.map((signal_id) => call.store(signals).find(signal_id)))
    found.push(...part.map((signal_id, place) => ({ signal_id, doc: docs[place] })))
  }
  return found
}

type SignalStatusCounts = ReadonlyMap<SignalStatus, number>

/**
 * How many there are in each status, however many; those that the caller may not know of are none. `own`: of those that
 * stand for themselves, which are the only ones that move.
 */
export async function countStatuses(
  call: Call,
  { signal_ids, filter }: SignalSelection,
): Promise<{ readonly all: SignalStatusCounts; readonly own: SignalStatusCounts }> {
  if (!filter) {
    const docs = (await findNamedSignals(call, [...new Set(signal_ids)])).flatMap(({ doc }) => doc ?? [])
    return { all: countLoaded(docs), own: countLoaded(docs.filter(({ value }) => !value.merge)) }
  }
  const conditions = buildFilter(filter)
  const all = await countStored(call, conditions)
  if (filter.visibility === 'merged') return { all, own: new Map() }
  // About a subject there are merged ones beside the others.
  const own =
    filter.subject_id === undefined ? all : await countStored(call, { ...conditions, visibility: filter.visibility })
  return { all, own }
}

function countLoaded(docs: readonly Doc<StoredSignal>[]): SignalStatusCounts {
  const groups = Map.groupBy(docs, ({ value }) => value.status)
  return new Map([...groups].map(([status, { length }]) => [status, length]))
}

async function countStored(call: Call, conditions: Filter): Promise<SignalStatusCounts> {
  const found = await call.store(signals).countBy('status', conditions)
  return new Map([...found].map(([status, count]) => [signalStatus.parse(status), count]))
}
