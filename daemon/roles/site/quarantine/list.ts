// Lists the quarantined items, newest first.

import * as z from 'zod'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, pageSchema } from '../../../kernel/operation/paging.ts'
import { listQuarantine } from '../../../shared/signal-cause/signal-cause-lists.ts'
import { quarantinesPart } from '../parts.ts'
import { findPendingDecisions } from './find-pending-release.ts'
import { quarantineEntry } from './model.ts'

/** Where a page ends: entries are ordered by time, then by id. */
const pageCursor = z.strictObject({ at: z.string(), id: z.string() })

export const list = operation({
  summary: 'List quarantined messages',
  method: 'GET',
  path: '/api/v2/site/quarantine',
  input: listQuarantine.input,
  output: pageSchema(quarantineEntry).meta({ id: 'QuarantinePage' }),
  errors: ['malformed'],
  allow: 'quarantine:read',

  async run(call, { peer, limit, cursor }) {
    const after = cursor === undefined ? undefined : parseCursor(cursor)
    if (cursor !== undefined && !after)
      return refuse('malformed', 'the cursor does not belong to this list; start again without it')
    const { entries, total } = await call.part(quarantinesPart).list(peer, limit, after)
    const items = []
    for (const entry of entries) items.push({ ...entry, ...(await findPendingDecisions(call, entry.id)) })
    const last = entries.at(-1)
    const next = last && items.length === limit ? { next_cursor: formatCursor(last) } : {}
    return { items, ...next, ...exactTotal(total) }
  },
})

function formatCursor({ at, id }: z.infer<typeof pageCursor>): string {
  return Buffer.from(JSON.stringify({ at, id })).toString('base64url')
}

function parseCursor(cursor: string): z.infer<typeof pageCursor> | undefined {
  return parseJsonAs(pageCursor, Buffer.from(cursor, 'base64url'))
}
