// Forces a resolve attempt: decides again on what stands, and renews the dissent record of a session still in conflict.
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { changeSession } from './change.ts'
import { idInput, session } from './model.ts'
import { decided } from './rules.ts'
import { shown } from './view.ts'

const max_pending = 200

export const resolve = operation({
  summary: 'Force a resolve attempt',
  method: 'POST',
  path: '/api/v2/consensus/session/{id}/resolve',
  tool: 'consensus_session_resolve',
  input: idInput,
  output: session,
  errors: ['not_found', 'not_your_tenant', 'session_closed', 'precondition_failed'],
  allow: 'consensus:write',
  versioned: true,

  async run(call, { id }) {
    const done = await changeSession(call, id, 'consensus.session.resolve', (current, standing) => {
      if (current.state === 'RATIFIED' || current.state === 'WITHDRAWN')
        return refuse('session_closed', `the session is ${current.state}`)
      // Each renewed record owes every peer a message: with a peer that cannot be reached the session would grow for ever.
      if (current.pending.length >= max_pending)
        return refuse('unavailable', 'the results before this one have not been delivered yet')
      return decided(current, standing.sorted, 'resolve', call.caller.subject, call.nowIso()).next
    })
    return isRefused(done) ? done : shown(done)
  },
})
