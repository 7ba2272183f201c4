// Decides again on the standing contributions, and renews the dissent record of a session still in conflict.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeSession } from './change-session.ts'
import { idInput, session } from './model.ts'
import { resolveSession } from './rules.ts'
import { showSession } from './view.ts'

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
    const change = await changeSession(call, id, 'consensus.session.resolve', (current, view, decide) =>
      resolveSession(current, view.sorted, call.caller.subject, call.nowIso(), decide),
    )
    return isRefusal(change) ? change : showSession(change)
  },
})
