// Lists the quarantined items, newest first.

import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, pageSchema } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import { listQuarantine } from '../../../shared/signal-cause/signal-cause-lists.ts'
import { quarantinesPart } from '../parts.ts'
import { findPendingDecisions } from './find-pending-release.ts'
import { quarantineEntry } from './model.ts'

export const list = operation({
  summary: 'List quarantined messages',
  method: 'GET',
  path: '/api/v2/site/quarantine',
  input: listQuarantine.input,
  output: pageSchema(quarantineEntry).meta({ id: 'QuarantinePage' }),
  errors: ['malformed'],
  allow: 'quarantine:read',

  async run(call, { peer, limit, cursor }) {
    const filter = peer === undefined ? {} : { peer }
    const query = { filter, limit, ...(cursor === undefined ? {} : { cursor }) }
    // Entries are ordered by time, then by id.
    const position = readCursor('quarantine', query)
    const after = position && { at: String(position.value), id: position.id }
    const { entries, total } = await call.part(quarantinesPart).list(peer, limit, after)
    const items = []
    for (const entry of entries) items.push({ ...entry, ...(await findPendingDecisions(call, entry.id)) })
    const last = entries.at(-1)
    const next =
      last && items.length === limit
        ? { next_cursor: writeCursor('quarantine', query, { value: last.at, id: last.id }) }
        : {}
    return { items, ...next, ...exactTotal(total) }
  },
})
