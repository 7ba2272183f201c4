// Which lens is in use for what, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { summaryField, word } from '../fields.ts'
import { bindingSummary, bindingView, lensBindings, short, shown } from './model.ts'

export const list = operation({
  summary: 'List which version of a lens is in use for what',
  method: 'GET',
  path: '/api/v2/lens_binding',
  also: ownedPaths('lensbinding'),
  tool: 'lens_binding_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    entity_type: word.optional(),
    lens: word.optional(),
    dataset: word.optional(),
  }),
  output: pageOf(z.union([bindingView, bindingSummary])).meta({ id: 'LensBindingPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'updated_at', direction: 'desc' })
    const { docs, ...next } = await call.store(lensBindings).list(query)
    return { items: docs.map(summary ? short : shown), ...next }
  },
})
