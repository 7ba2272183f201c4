// One signal.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { signal, signals } from './model.ts'
import { showSignal } from './view.ts'

const [path = '', ...also] = objectPathAliases('signal', '/{uid}')

export const get = operation({
  summary: 'Get one signal',
  method: 'GET',
  path,
  also,
  tool: 'signal_get',
  input: uidInput,
  output: signal,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => showSignal(call, await call.store(signals).get(uid)),
})
