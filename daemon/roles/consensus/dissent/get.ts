// Returns one dissent record.
import { operation } from '../../../kernel/operation/operation.ts'
import { dissents, machineDissent } from '../session/dissent/model.ts'
import { idInput } from '../session/model.ts'
import { showDissent } from './view.ts'

export const get = operation({
  summary: 'Get one dissent record',
  method: 'GET',
  path: '/api/v2/dissent/{id}',
  tool: 'dissent_get',
  input: idInput,
  output: machineDissent,
  errors: ['not_found'],
  allow: 'consensus:read',

  run: async (call, { id }) => showDissent(await call.store(dissents).get(id)),
})
