// Opens a consensus session for the caller's tenant, and invites the peers that it names.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { originId } from '../../../shared/origin-id/origin-id.ts'
import { beginSession } from './begin-session.ts'
import { session, sessionInput } from './model.ts'
import { showSession } from './view.ts'

export const create = operation({
  summary: 'Create a consensus session',
  method: 'POST',
  path: '/api/v2/consensus/session',
  tool: 'consensus_session_create',
  input: sessionInput,
  output: session,
  status: 201,
  errors: ['label_denied', 'idempotency_mismatch', 'not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'consensus:write',
  creates: true,
  versioned: true,

  async run(call, { classification, ...fields }) {
    const label = resolveClassification(call, classification)
    if (isRefusal(label)) return label
    const { tenant_id } = call.caller
    const id = originId('ses', call.site.name, call.newId('ses').slice('ses_'.length))
    const session = await beginSession(call, { ...fields, id, tenant_id, label })
    return isRefusal(session) ? session : showSession(session)
  },
})
