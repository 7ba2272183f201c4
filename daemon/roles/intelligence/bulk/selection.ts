// Which signals a bulk disposition is about: those that the caller may know of, chosen at one moment.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
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

/** How many there are in each status, however many; those that the caller may not know of are none. */
export async function statuses(call: Call, given: Selection): Promise<ReadonlyMap<SignalStatus, number>> {
  if (given.filter) {
    const counted = await call.store(signals).countBy('status', conditionsOf(given.filter))
    return new Map([...counted].map(([status, count]) => [signalStatus.parse(status), count]))
  }
  const counts = new Map<SignalStatus, number>()
  for (const { doc } of await named(call, [...new Set(given.signal_ids)])) {
    if (doc) counts.set(doc.value.status, (counts.get(doc.value.status) ?? 0) + 1)
  }
  return counts
}
