// Lists of guidance by type, for administrators: all that the scope may have, in the order of ranks, before the caps.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { exactTotal, listFields } from '../../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../../kernel/store/list-cursor.ts'
import { readerOf } from './attach.ts'
import { guidanceScope } from './model.ts'
import { guidancePart } from './parts.ts'
import type { AttachableType, IndexedArtifact } from './rules.ts'

export const viewInput = z.strictObject({ ...listFields, scope: guidanceScope.default('l1') })

export function listView<T>(
  call: Call,
  { limit, cursor, scope }: z.infer<typeof viewInput>,
  type: AttachableType,
  show: (artifacts: readonly IndexedArtifact[]) => T[],
) {
  const unloaded = refuseUnloaded(call)
  if (unloaded) return unloaded
  const all = show(call.part(guidancePart).index.listVisible(readerOf(call, { scope }), type))
  // A set in memory has no stored positions: a cursor has the number of items before it.
  const query = { filter: { scope }, limit, ...(cursor === undefined ? {} : { cursor }) }
  const { value = 0 } = readCursor(type, query) ?? {}
  const from = typeof value === 'number' && Number.isSafeInteger(value) ? Math.max(0, value) : 0
  const to = from + limit
  return {
    items: all.slice(from, to),
    ...exactTotal(all.length),
    ...(to < all.length ? { next_cursor: writeCursor(type, query, { value: to, id: '' }) } : {}),
  }
}

export function refuseUnloaded(call: Call): Refusal | undefined {
  const { index } = call.part(guidancePart)
  return index.isLoaded
    ? undefined
    : refuse('unavailable', 'the guidance of this process is not loaded; try again later')
}
