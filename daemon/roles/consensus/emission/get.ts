// Returns one peer's decision in one session.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { emissions, lensEmission } from './model.ts'
import { showEmission } from './view.ts'

export const get = operation({
  summary: 'Get a decision that a peer emitted',
  method: 'GET',
  path: '/api/v2/consensus/emission/{id}',
  tool: 'consensus_emission_get',
  // The origin's session id, an `@` and the origin's name.
  input: z.strictObject({ id: z.string().min(1).max(192) }),
  output: lensEmission,
  errors: ['not_found'],
  allow: 'consensus:read',

  run: async (call, { id }) => showEmission(await call.store(emissions).get(id)),
})
