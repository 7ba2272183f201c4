// Lenses of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { summaryField, word } from '../fields.ts'
import { lenses, lensSummary, lensView, short, shown } from './stored.ts'

export const list = operation({
  summary: 'List lenses',
  method: 'GET',
  path: '/api/v2/lens',
  also: ownedPaths('lens'),
  tool: 'lens_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    lens: word.optional(),
    lens_version: word.optional(),
    entity_type: word.optional(),
  }),
  output: pageOf(z.union([lensView, lensSummary])).meta({ id: 'LensPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(lenses).list(query)
    return { items: docs.map(summary ? short : shown), ...next }
  },
})
