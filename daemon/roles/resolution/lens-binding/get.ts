// One binding, as an owned object.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { bindingView, lensBindings, shown } from './model.ts'

export const get = operation({
  summary: 'Get which version of a lens is in use for one thing',
  method: 'GET',
  path: '/api/v2/lens_binding/{uid}',
  also: ownedPaths('lensbinding', '/{uid}'),
  input: uidInput,
  output: bindingView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => shown(await call.store(lensBindings).get(uid)),
})
