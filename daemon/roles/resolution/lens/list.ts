// Lists lenses of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText, summaryField } from '../fields.ts'
import { lenses, lensSummary, lensView, showLens, summariseLens } from './stored-lens.ts'

export const list = operation({
  summary: 'List lenses',
  method: 'GET',
  path: '/api/v2/lens',
  also: objectPathAliases('lens'),
  tool: 'lens_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    lens: shortText.optional(),
    lens_version: shortText.optional(),
    entity_type: shortText.optional(),
  }),
  output: pageSchema(z.union([lensView, lensSummary])).meta({ id: 'LensPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(lenses).page(query)
    return { items: docs.map(summary ? summariseLens : showLens), ...counted }
  },
})
