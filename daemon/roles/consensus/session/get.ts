// Returns one session in its current state.
import { operation } from '../../../kernel/operation/operation.ts'
import { idInput, session, sessions } from './model.ts'
import { showSession } from './view.ts'

export const get = operation({
  summary: 'Get the state of a session',
  method: 'GET',
  path: '/api/v2/consensus/session/{id}',
  tool: 'consensus_session_get',
  input: idInput,
  output: session,
  errors: ['not_found'],
  allow: 'consensus:read',
  versioned: true,

  run: async (call, { id }) => showSession(await call.store(sessions).get(id)),
})
