// Gets one signal.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { signal, signals } from './model.ts'
import { showSignal } from './view.ts'

export const get = operation({
  summary: 'Get one signal',
  method: 'GET',
  ...objectPaths('signal', '/{uid}'),
  tool: 'signal_get',
  input: uidInput,
  output: signal,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => showSignal(call, await call.store(signals).get(uid)),
})
