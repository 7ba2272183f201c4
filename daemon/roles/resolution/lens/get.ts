// Returns one version of a lens.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { lenses, lensView, showLens } from './stored-lens.ts'

export const get = operation({
  summary: 'Get one version of a lens',
  method: 'GET',
  path: '/api/v2/lens/{uid}',
  also: objectPathAliases('lens', '/{uid}'),
  tool: 'lens_get',
  input: uidInput,
  output: lensView,
  errors: ['not_found'],
  allow: 'resolution:read',

  run: async (call, { uid }) => showLens(await call.store(lenses).get(uid)),
})
