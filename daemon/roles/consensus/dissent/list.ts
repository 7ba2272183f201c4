// Lists the dissent records of the caller's tenant, newest first.
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, pageSchema } from '../../../kernel/operation/paging.ts'
import { listDissent } from '../../../shared/signal-cause/signal-cause-lists.ts'
import { dissents, machineDissent } from '../session/dissent/model.ts'
import { showDissent } from './view.ts'

export const list = operation({
  summary: 'List dissent records',
  method: 'GET',
  path: '/api/v2/dissent',
  tool: 'dissent_list',
  input: listDissent.input,
  output: pageSchema(machineDissent).meta({ id: 'MachineDissentPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...counted } = await call.store(dissents).page(query)
    return { items: docs.map(showDissent), ...counted }
  },
})
