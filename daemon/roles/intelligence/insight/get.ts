// Gets one insight.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { insight, insights } from './model.ts'
import { showInsight } from './view.ts'

export const get = operation({
  ...objectPaths('insight', '/{uid}'),
  summary: 'Get one insight',
  method: 'GET',
  tool: 'insight_get',
  input: uidInput,
  output: insight,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => showInsight(await call.store(insights).get(uid)),
})
