// Lists lens bindings, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText, summaryField } from '../fields.ts'
import { bindingSummary, bindingView, lensBindings, showBinding, summariseBinding } from './model.ts'

export const list = operation({
  summary: 'List lens bindings: the version of a lens in use for each entity type and data set',
  method: 'GET',
  path: '/api/v2/lens_binding',
  also: objectPathAliases('lensbinding'),
  tool: 'lens_binding_list',
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    entity_type: shortText.optional(),
    lens: shortText.optional(),
    dataset: shortText.optional(),
  }),
  output: pageSchema(z.union([bindingView, bindingSummary])).meta({ id: 'LensBindingPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'updated_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(lensBindings).page(query)
    return { items: docs.map(summary ? summariseBinding : showBinding), ...counted }
  },
})
