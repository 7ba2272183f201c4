// Withdraws a session; after a ratification this also sends out the retraction.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeSession } from './change-session.ts'
import { idInput, session } from './model.ts'
import { withdrawSession as withdraw } from './rules.ts'
import { matchSinksFor, sinksFor } from './sinks.ts'
import { showSession } from './view.ts'

export const cancel = operation({
  summary: 'Cancel a session; it becomes WITHDRAWN',
  method: 'POST',
  path: '/api/v2/consensus/session/{id}/cancel',
  tool: 'consensus_session_cancel',
  input: idInput,
  output: session,
  errors: ['not_found', 'not_your_tenant', 'session_closed', 'precondition_failed'],
  allow: 'consensus:cancel',
  versioned: true,

  async run(call, { id }) {
    const change = await changeSession(call, id, 'consensus.session.cancel', (current) =>
      withdraw(current, sinksFor(call, current), call.caller.subject, call.nowIso(), matchSinksFor(call, current)),
    )
    return isRefusal(change) ? change : showSession(change)
  },
})
