// Opens a consensus session for the caller's tenant, and invites the peers that it names.
import { isRefused } from '../../../kernel/errors.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import { beginSession } from './beginning.ts'
import { session, sessionInput } from './model.ts'
import { shown } from './view.ts'

export const create = operation({
  summary: 'Create a consensus session',
  method: 'POST',
  path: '/api/v2/consensus/session',
  tool: 'consensus_session_create',
  input: sessionInput,
  output: session,
  status: 201,
  errors: ['label_denied', 'idempotency_mismatch', 'not_found'],
  allow: 'consensus:write',
  creates: true,
  versioned: true,

  async run(call, { classification, ...asked }) {
    const label = labelFor(call, classification)
    if (isRefused(label)) return label
    const { tenant_id } = call.caller
    const made = await beginSession(call, { ...asked, id: call.newId('ses'), tenant_id, label })
    return isRefused(made) ? made : shown(made)
  },
})
