// A cursor marks the position after the last document of a page, and is bound to its query.

import * as z from 'zod'
import { canonicalDigest } from '../encoding/canonical-json.ts'
import { parseJson } from '../encoding/parse-json.ts'
import { Refusal } from '../error/errors.ts'
import type { CursorPosition, ListQuery, ReadScope } from './store.ts'

const cursorContent = z.tuple([
  z.string().length(16),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
  z.string(),
])

export function writeCursor(collection: string, query: ListQuery, { value, id }: CursorPosition): string {
  return Buffer.from(JSON.stringify([sealCursor(collection, query, { value, id }), value, id])).toString('base64url')
}

/**
 * @throws Refusal('malformed') when the cursor was altered or is another query's. The seal is not a secret: a forged
 * cursor is another position in the same list, which stays filtered for the caller.
 */
export function readCursor(collection: string, query: ListQuery): CursorPosition | undefined {
  if (query.after) return query.after
  if (query.cursor === undefined) return undefined
  const parsed = cursorContent.safeParse(parseJson(Buffer.from(query.cursor, 'base64url')))
  if (!parsed.success) throw foreignCursor()
  const [sealed, value, id] = parsed.data
  if (sealed !== sealCursor(collection, query, { value, id })) throw foreignCursor()
  return { value, id }
}

/** The seal covers the query only: a cursor neither depends on stored data, such as labels, nor reveals it. */
function sealCursor(
  collection: string,
  { filter, order, read_scope }: ListQuery,
  { value, id }: CursorPosition,
): string {
  return canonicalDigest([
    collection,
    filter ?? {},
    order ?? null,
    read_scope ? scopeOf(read_scope) : null,
    value,
    id,
  ]).slice(0, 16)
}

function scopeOf({ viewer: { tenant_id, clearance } }: ReadScope) {
  if (!clearance) return [tenant_id]
  const { level, categories, nationality } = clearance
  return [tenant_id, level, categories.toSorted(), nationality ?? null]
}

function foreignCursor(): Refusal {
  return new Refusal('malformed', 'the cursor does not belong to this list; start again without it', [
    { path: 'cursor', message: 'does not belong to this list' },
  ])
}
