// Lists the schemas of intents that guidance has for a scope.
import { operation } from '../../../../kernel/operation/operation.ts'
import { pageSchema } from '../../../../kernel/operation/paging.ts'
import { listView, viewInput } from './list-views.ts'
import { shownSchema } from './model.ts'
import { showSchemas } from './show.ts'

export const schemas = operation({
  summary: 'List the schemas of intents that guidance has for a scope, the best first',
  method: 'GET',
  path: '/api/v1/guide/guidance/schemas',
  input: viewInput,
  output: pageSchema(shownSchema).meta({ id: 'GuidanceSchemaPage' }),
  errors: [],
  allow: 'guide:admin',

  run: async (call, input) => listView(call, input, 'IntentSchema', showSchemas),
})
