// One silence; past ones stay readable.
import { operation } from '../../../kernel/operation.ts'
import { uidInput } from '../fields.ts'
import { silence, silences } from './model.ts'
import { silencePaths } from './paths.ts'
import { shownOne } from './view.ts'

export const get = operation({
  ...silencePaths('/{uid}'),
  summary: 'Get one silence',
  method: 'GET',
  tool: 'signal_silence_get',
  input: uidInput,
  output: silence,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => shownOne(call, await call.store(silences).get(uid)),
})
