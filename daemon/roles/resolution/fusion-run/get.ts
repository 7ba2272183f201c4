// One run.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { fusionRuns, runView, shown } from './model.ts'

export const get = operation({
  summary: 'Get one run',
  method: 'GET',
  path: '/api/v2/fusion_run/{uid}',
  also: ownedPaths('fusionrun', '/{uid}'),
  tool: 'fusion_run_get',
  input: uidInput,
  output: runView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => shown(await call.store(fusionRuns).get(uid)),
})
