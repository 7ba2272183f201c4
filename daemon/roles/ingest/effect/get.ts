// Gets one effect with the live state of its DAG.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { effects, effectView } from './model.ts'
import { showEffect } from './view.ts'

export const get = operation({
  ...objectPaths('effect/{uid}'),
  summary: 'Get one effect with its live state',
  method: 'GET',
  tool: 'effect_get',
  input: uidInput,
  output: effectView,
  errors: ['not_found'],
  allow: 'ingest:read',
  versioned: true,

  run: async (call, { uid }) => await showEffect(call, await call.store(effects).get(uid)),
})
