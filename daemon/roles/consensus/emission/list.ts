// Lists the decisions that peers emitted, the newest change first.
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, pageSchema } from '../../../kernel/operation/paging.ts'
import { listPeerDecisions } from '../../../shared/peer-decision/peer-decision.ts'
import { emissions, lensEmission } from './model.ts'
import { showEmission } from './view.ts'

export const list = operation({
  summary: 'List the decisions that peers emitted on lenses',
  method: 'GET',
  path: '/api/v2/consensus/emission',
  tool: 'consensus_emission_list',
  input: listPeerDecisions.input,
  output: pageSchema(lensEmission).meta({ id: 'LensEmissionPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'updated_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(emissions).page(query)
    return { items: docs.map(showEmission), ...counted }
  },
})
