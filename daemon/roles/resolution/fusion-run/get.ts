// Returns one run.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { fusionRuns, runView, showRun } from './model.ts'

export const get = operation({
  summary: 'Get one run',
  method: 'GET',
  path: '/api/v2/fusion_run/{uid}',
  also: objectPathAliases('fusionrun', '/{uid}'),
  tool: 'fusion_run_get',
  input: uidInput,
  output: runView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => showRun(await call.store(fusionRuns).get(uid)),
})
