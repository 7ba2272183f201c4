// The status feed of the caller's coalition, newest first.
import * as z from 'zod'
import { feedEntry } from '../../../kernel/coalition.ts'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { feedEntries } from './model.ts'
import { entryOf } from './rules.ts'

export const list = operation({
  summary: 'List the status feed of the coalition',
  method: 'GET',
  path: '/api/v2/hub/feed',
  input: z.strictObject({
    ...listFields,
    node: z.string().max(64).optional().meta({ description: 'Only what this node told' }),
    lens_id: z.string().max(256).optional(),
  }),
  output: pageOf(feedEntry).meta({ id: 'FeedPage' }),
  errors: [],
  allow: 'hub:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'seq', direction: 'desc' })
    const { docs, ...next } = await call.store(feedEntries).list(query)
    return { items: docs.map(({ value }) => entryOf(value)), ...next }
  },
})
