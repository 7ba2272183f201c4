// Lists the fragments of specifications that guidance has for a scope.
import { operation } from '../../../../kernel/operation/operation.ts'
import { pageSchema } from '../../../../kernel/operation/paging.ts'
import { listView, viewInput } from './list-views.ts'
import { shownSpec } from './model.ts'
import { showSpecs } from './show.ts'

export const specs = operation({
  summary: 'List the fragments of specifications that guidance has for a scope, the best first',
  method: 'GET',
  path: '/api/v1/guide/guidance/specs',
  input: viewInput,
  output: pageSchema(shownSpec).meta({ id: 'GuidanceSpecPage' }),
  errors: [],
  allow: 'guide:admin',

  run: async (call, input) => listView(call, input, 'SpecFragment', showSpecs),
})
