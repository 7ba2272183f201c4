// One signal.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { signal, signals } from './model.ts'
import { shown } from './view.ts'

const [path = '', ...also] = ownedPaths('signal', '/{uid}')

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

  run: async (call, { uid }) => shown(call, await call.store(signals).get(uid)),
})
