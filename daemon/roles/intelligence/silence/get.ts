// Gets one silence; ended ones stay readable.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { silence, silences } from './model.ts'
import { showSilence } from './view.ts'

export const get = operation({
  ...objectPaths('signal-silence', '/{uid}'),
  summary: 'Get one silence',
  method: 'GET',
  tool: 'signal_silence_get',
  input: uidInput,
  output: silence,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => showSilence(call, await call.store(silences).get(uid)),
})
