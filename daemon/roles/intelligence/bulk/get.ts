// Gets one bulk disposition with the outcome of each signal.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { bulk, bulks } from './model.ts'
import { showBulk } from './view.ts'

export const get = operation({
  ...objectPaths('signal-bulk', '/{uid}'),
  summary: 'Get a bulk disposition with the outcome of each signal',
  method: 'GET',
  tool: 'signal_bulk_get',
  input: uidInput,
  output: bulk,
  errors: ['not_found'],
  allow: 'intelligence:read',
  versioned: true,

  run: async (call, { uid }) => showBulk(await call.store(bulks).get(uid)),
})
