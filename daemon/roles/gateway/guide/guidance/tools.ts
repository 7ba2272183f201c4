// Lists the overrides and hints for tools that guidance has for a scope.
import { operation } from '../../../../kernel/operation/operation.ts'
import { pageSchema } from '../../../../kernel/operation/paging.ts'
import { listView, viewInput } from './list-views.ts'
import { shownTool } from './model.ts'
import { showTools } from './show.ts'

export const tools = operation({
  summary: 'List the overrides and hints for tools that guidance has for a scope, the best first',
  method: 'GET',
  path: '/api/v1/guide/guidance/tools',
  input: viewInput,
  output: pageSchema(shownTool).meta({ id: 'GuidanceToolPage' }),
  errors: [],
  allow: 'guide:admin',

  run: async (call, input) => listView(call, input, 'CapabilityMap', showTools),
})
