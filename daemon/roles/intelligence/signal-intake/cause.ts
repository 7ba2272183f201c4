// Raises a signal for an event on the site itself, by the settings of its kind.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { causeReport } from '../../../shared/signal-cause/report-cause.ts'
import { checkTenantAndLabel } from './raise-signal.ts'
import { raiseSiteCause } from './site-cause/raise-site-cause.ts'

export const raiseCause = operation({
  summary: 'Report an event on the site that is worth a signal, such as a failed pipeline',
  method: 'POST',
  path: '/api/v1/signal-intake/cause',
  input: causeReport.input,
  output: causeReport.output,
  errors: ['not_your_tenant', 'label_denied'],
  allow: 'intelligence:raise',

  async run(call, input) {
    const refusal = checkTenantAndLabel(call, input)
    if (refusal) return refusal
    const { caller } = call
    const key = caller.tenant_id === '*' ? input.key : `${caller.subject}/${input.key}`
    const raised = await raiseSiteCause(call, { ...input, key })
    if (isRefusal(raised)) return raised
    return raised === undefined ? { raised: false } : { raised: true, uid: raised }
  },
})
