// What lies in quarantine, newest first.
import * as z from 'zod'
import { refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf } from '../../../kernel/paging.ts'
import { quarantinesPart } from '../parts.ts'
import { quarantineEntry } from './model.ts'
import { pendingOf } from './pending.ts'

/** Where a page ends: entries are ordered by time, then by id. */
const place = z.strictObject({ at: z.string(), id: z.string() })

export const list = operation({
  summary: 'List quarantined messages',
  method: 'GET',
  path: '/api/v2/site/quarantine',
  input: z.strictObject({ ...listFields, peer: z.string().max(64).optional() }),
  output: pageOf(quarantineEntry).meta({ id: 'QuarantinePage' }),
  errors: ['malformed'],
  allow: 'quarantine:read',

  async run(call, { peer, limit, cursor }) {
    const after = cursor === undefined ? undefined : placeIn(cursor)
    if (cursor !== undefined && !after) return refuse('malformed', 'the cursor is not one of this list')
    const found = await call.part(quarantinesPart).list(peer, limit, after)
    const items = []
    for (const entry of found) items.push({ ...entry, ...(await pendingOf(call, entry.id)) })
    const last = found.at(-1)
    return { items, ...(last && items.length === limit ? { next_cursor: cursorOf(last) } : {}) }
  },
})

function cursorOf({ at, id }: z.infer<typeof place>): string {
  return Buffer.from(JSON.stringify({ at, id })).toString('base64url')
}

function placeIn(cursor: string): z.infer<typeof place> | undefined {
  try {
    return place.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))).data
  } catch {
    return undefined
  }
}
