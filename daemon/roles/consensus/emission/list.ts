// Lists the decisions that peers emitted, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { emissionStatus, emissions, lensEmission } from './model.ts'
import { showEmission } from './view.ts'

export const list = operation({
  summary: 'List the decisions that peers emitted on lenses',
  method: 'GET',
  path: '/api/v2/consensus/emission',
  tool: 'consensus_emission_list',
  input: z.strictObject({
    ...listFields,
    lens_id: z.string().max(256).optional(),
    session_id: z.string().max(128).optional().meta({ description: 'The session’s id at its origin' }),
    correlation_id: z.string().max(256).optional().meta({ description: 'uid of the EntityMatch that it decides' }),
    origin: z.string().max(64).optional().meta({ description: 'The peer that decided' }),
    status: emissionStatus.optional(),
  }),
  output: pageSchema(lensEmission).meta({ id: 'LensEmissionPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'received_at', direction: 'desc' })
    const { docs, ...next } = await call.store(emissions).list(query)
    return { items: docs.map(showEmission), ...next }
  },
})
