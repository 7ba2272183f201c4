// Which signals a bulk disposition is about: those that the caller may know of, chosen at one moment.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc, Filter } from '../../../kernel/store.ts'
import { type SignalStatus, type StoredSignal, signalStatus, signals } from '../signal/model.ts'
import { conditionsOf } from '../signal/page.ts'
import { bulkSelection } from './model.ts'

const selection = z.object(bulkSelection)
export type Selection = z.output<typeof selection>

/** A signal that was chosen; without a document where there is none that the caller may know of. */
export type Chosen = { readonly signal_id: string; readonly doc?: Doc<StoredSignal> | undefined }

const page_size = 500

/** Refuses `invalid` where both were said, or neither. */
export function eitherOf({ signal_ids, filter }: Selection): Refused | undefined {
  if ((signal_ids === undefined) !== (filter === undefined)) return undefined
  const fault = { path: 'signal_ids', message: 'or filter: one of them' }
  return refuse('invalid', 'a bulk disposition names its signals or filters them', [fault])
}

/** Each once, at most `most` and one more, so that too many show. */
export async function chosen(call: Call, { signal_ids, filter }: Selection, most: number): Promise<Chosen[]> {
  if (!filter) return await named(call, [...new Set(signal_ids)].slice(0, most + 1))
  const found: Chosen[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(page_size, most + 1 - found.length)
    const more = cursor === undefined ? {} : { cursor }
    const page = await call.store(signals).list({ filter: conditionsOf(filter), limit, fresh: true, ...more })
    found.push(...page.docs.map((doc) => ({ signal_id: doc.id, doc })))
    cursor = page.next_cursor
  } while (cursor !== undefined && found.length <= most)
  return found
}

async function named(call: Call, signal_ids: readonly string[]): Promise<Chosen[]> {
  const found: Chosen[] = []
  for (let at = 0; at < signal_ids.length; at += page_size) {
    const part = signal_ids.slice(at, at + page_size)
    const docs = await Promise.all(part.map((signal_id) => call.store(signals).find(signal_id)))
    found.push(...part.map((signal_id, place) => ({ signal_id, doc: docs[place] })))
  }
  return found
}

type Counts = ReadonlyMap<SignalStatus, number>

/**
 * How many there are in each status, however many; those that the caller may not know of are none. `own`: of those that
 * stand for themselves, which are the only ones that move.
 */
export async function statuses(
  call: Call,
  { signal_ids, filter }: Selection,
): Promise<{ readonly all: Counts; readonly own: Counts }> {
  if (!filter) {
    const docs = (await named(call, [...new Set(signal_ids)])).flatMap(({ doc }) => doc ?? [])
    return { all: counted(docs), own: counted(docs.filter(({ value }) => !value.merge)) }
  }
  const conditions = conditionsOf(filter)
  const all = await countedBy(call, conditions)
  if (filter.standing === 'merged') return { all, own: new Map() }
  // About a subject there are merged ones beside the others.
  const own =
    filter.subject_id === undefined ? all : await countedBy(call, { ...conditions, standing: filter.standing })
  return { all, own }
}

function counted(docs: readonly Doc<StoredSignal>[]): Counts {
  const groups = Map.groupBy(docs, ({ value }) => value.status)
  return new Map([...groups].map(([status, { length }]) => [status, length]))
}

async function countedBy(call: Call, conditions: Filter): Promise<Counts> {
  const found = await call.store(signals).countBy('status', conditions)
  return new Map([...found].map(([status, count]) => [signalStatus.parse(status), count]))
}
