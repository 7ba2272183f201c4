// Lists the sets of artifacts from other sites, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { guidanceSets, setStatuses } from './model.ts'
import { setView, showSet } from './view.ts'

export const list = operation({
  summary: 'List sets of artifacts from other sites, the newest first',
  method: 'GET',
  path: '/api/v1/guide/sets',
  input: z.strictObject({
    ...listFields,
    status: z.enum(setStatuses).optional(),
    peer: z.string().min(1).max(64).optional(),
  }),
  output: pageSchema(setView).meta({ id: 'GuidanceSetPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, ...filters }) {
    const query = buildListQuery(filters, limit, cursor, { field: 'create_ts', direction: 'desc' })
    const { docs, ...page } = await call.store(guidanceSets).page(query)
    return { ...page, items: docs.map((doc) => showSet(doc, call.site.name)) }
  },
})
