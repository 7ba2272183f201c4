// Lists the status feed of the caller's coalition, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { feedEntry } from '../../../shared/coalition/hub-protocol.ts'
import { feedEntries } from './model.ts'
import { entryOf } from './rules.ts'

export const list = operation({
  summary: 'List the status feed of the coalition',
  method: 'GET',
  path: '/api/v2/hub/feed',
  input: z.strictObject({
    ...listFields,
    node: z.string().max(64).optional().meta({ description: 'Only events that this node published' }),
    lens_id: z.string().max(256).optional(),
  }),
  output: pageSchema(feedEntry).meta({ id: 'FeedPage' }),
  errors: [],
  allow: 'hub:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'seq', direction: 'desc' })
    const { docs, ...counted } = await call.store(feedEntries).page(query)
    return { items: docs.map(({ value }) => entryOf(value)), ...counted }
  },
})
