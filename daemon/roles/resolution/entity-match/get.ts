// Returns one match.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { entityMatches, matchView, showMatch } from './model.ts'

export const get = operation({
  summary: 'Get one match',
  method: 'GET',
  path: '/api/v2/entity_match/{uid}',
  also: objectPathAliases('entitymatch', '/{uid}'),
  tool: 'entity_match_get',
  input: uidInput,
  output: matchView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => showMatch(await call.store(entityMatches).get(uid)),
})
