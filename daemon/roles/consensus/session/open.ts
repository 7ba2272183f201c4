// Opens a session on behalf of another role of the site, for the tenant of the match that it is about.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { openSession } from '../../../shared/match-session/match-session.ts'
import { beginSession } from './begin-session.ts'
import { session } from './model.ts'
import { showSession } from './view.ts'

export const open = operation({
  summary: 'Open a session under an id that is known beforehand, for a tenant',
  method: 'POST',
  path: '/api/v2/consensus/match_session',
  input: openSession.input,
  output: session,
  status: 201,
  errors: ['label_denied', 'idempotency_mismatch', 'not_found', 'not_your_tenant'],
  allow: 'consensus:open',
  versioned: true,

  async run(call, input) {
    const { caller, site } = call
    if (caller.tenant_id !== '*') {
      if (caller.tenant_id !== input.tenant_id) return refuse('not_your_tenant', 'the session is another tenant’s')
      if (!dominates(caller, input.label, site.labels))
        return refuse('label_denied', 'the label is above the caller’s clearance')
    }
    const made = await beginSession(call, input)
    return isRefusal(made) ? made : showSession(made)
  },
})
