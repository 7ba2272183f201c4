// Withdraws a session; after a ratification this also sends out the retraction.
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { matchSinks, sinksFor } from '../emission/sinks.ts'
import { changeSession } from './change.ts'
import { idInput, session } from './model.ts'
import { cancel as withdraw } from './rules.ts'
import { shown } from './view.ts'

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
    const done = await changeSession(call, id, 'consensus.session.cancel', (current) =>
      withdraw(
        current,
        sinksFor(call, current.label),
        call.caller.subject,
        call.nowIso(),
        matchSinks(call, current.subject),
      ),
    )
    return isRefused(done) ? done : shown(done)
  },
})
