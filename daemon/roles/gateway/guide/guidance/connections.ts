// Lists the connections between services that guidance has for a scope.
import { operation } from '../../../../kernel/operation/operation.ts'
import { pageSchema } from '../../../../kernel/operation/paging.ts'
import { listView, viewInput } from './list-views.ts'
import { shownConnection } from './model.ts'
import { showConnections } from './show.ts'

export const connections = operation({
  summary: 'List the connections between services that guidance has for a scope, the best first',
  method: 'GET',
  path: '/api/v1/guide/guidance/connections',
  input: viewInput,
  output: pageSchema(shownConnection).meta({ id: 'GuidanceConnectionPage' }),
  errors: [],
  allow: 'guide:admin',

  run: async (call, input) => listView(call, input, 'ServiceConnectionHint', showConnections),
})
