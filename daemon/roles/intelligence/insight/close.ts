// Closes an insight whose signals are all resolved or dismissed.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { changeInsightWithSignals } from './change-insight.ts'
import { closeInsight } from './closing/rules.ts'
import { insight } from './model.ts'
import { showInsight } from './view.ts'

export const close = operation({
  ...objectPaths('insight', '/{uid}/close'),
  summary: 'Close an insight; refused while a linked signal is neither resolved nor dismissed',
  method: 'POST',
  tool: 'insight_close',
  input: uidInput.extend({ rationale }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid, rationale }) {
    const change = await changeInsightWithSignals(call, uid, {}, (current, signalStates) =>
      closeInsight(current, signalStates, attributeAction(call, rationale)),
    )
    return isRefusal(change) ? change : showInsight(change)
  },
})
