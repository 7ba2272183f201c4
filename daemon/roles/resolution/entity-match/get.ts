// One match.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { entityMatches, matchView, shown } from './model.ts'

export const get = operation({
  summary: 'Get one match',
  method: 'GET',
  path: '/api/v2/entity_match/{uid}',
  also: ownedPaths('entitymatch', '/{uid}'),
  tool: 'entity_match_get',
  input: uidInput,
  output: matchView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => shown(await call.store(entityMatches).get(uid)),
})
