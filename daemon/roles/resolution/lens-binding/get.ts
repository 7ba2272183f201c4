// Returns one lens binding.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { bindingView, lensBindings, showBinding } from './model.ts'

export const get = operation({
  summary: 'Get one lens binding: the version of a lens in use for an entity type or data set',
  method: 'GET',
  path: '/api/v2/lens_binding/{uid}',
  also: objectPathAliases('lensbinding', '/{uid}'),
  input: uidInput,
  output: bindingView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => showBinding(await call.store(lensBindings).get(uid)),
})
