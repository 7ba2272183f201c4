// One version of a lens.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { lenses, lensView, shown } from './stored.ts'

export const get = operation({
  summary: 'Get one version of a lens',
  method: 'GET',
  path: '/api/v2/lens/{uid}',
  also: ownedPaths('lens', '/{uid}'),
  tool: 'lens_get',
  input: uidInput,
  output: lensView,
  errors: ['not_found'],
  allow: 'resolution:read',

  run: async (call, { uid }) => shown(await call.store(lenses).get(uid)),
})
