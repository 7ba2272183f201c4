// Raises one signal of an intake source; the same key of the same origin raises it once.
import { operation } from '../../../kernel/operation/operation.ts'
import { checkTenantAndLabel, raiseSignal } from './raise-signal.ts'
import { raiseContract } from './request-raise.ts'

export const raise = operation({
  summary: 'Raise a signal for a tenant, once for each key of an origin',
  method: 'POST',
  path: '/api/v1/signal-intake/raise',
  input: raiseContract.input,
  output: raiseContract.output,
  errors: ['not_your_tenant', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:raise',
  max_body_bytes: 262_144,

  async run(call, input) {
    const refused = checkTenantAndLabel(call, input)
    if (refused) return refused
    const { caller } = call
    // The caller's name is part of the origin, so that nobody takes the key of another source.
    return raiseSignal(
      call,
      caller.tenant_id === '*' ? input : { ...input, origin: `${caller.subject}/${input.origin}` },
    )
  },
})
