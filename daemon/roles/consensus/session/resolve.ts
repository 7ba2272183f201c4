// Decides again on the standing contributions, and renews the dissent record of a session still in conflict.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeSession } from './change-session.ts'
import { idInput, session } from './model.ts'
import { decideSession } from './rules.ts'
import { showSession } from './view.ts'

const max_outbox_entries = 200

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
    const change = await changeSession(call, id, 'consensus.session.resolve', (current, view) => {
      if (current.state === 'RATIFIED' || current.state === 'WITHDRAWN')
        return refuse('session_closed', `the session is ${current.state}`)
      // Each renewed record queues a message to every peer: without a limit an unreachable peer would let the session grow.
      if (current.pending.length >= max_outbox_entries)
        return refuse(
          'unavailable',
          `${current.pending.length} deliveries of this session are pending, and the limit is ${max_outbox_entries}; retry once some are delivered`,
        )
      return decideSession(current, view.sorted, 'resolve', call.caller.subject, call.nowIso()).next
    })
    return isRefusal(change) ? change : showSession(change)
  },
})
