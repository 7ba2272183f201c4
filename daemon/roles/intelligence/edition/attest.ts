// Attests an edition; a closing edition resolves the signals under investigation and then closes the insight.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { rationale, uid, uidInput } from '../fields.ts'
import { changeInsightWithSignals } from '../insight/change-insight.ts'
import { insight } from '../insight/model.ts'
import { showInsight } from '../insight/view.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { attestEdition } from './rules.ts'

export const attest = operation({
  ...objectPaths('insight', '/{uid}/edition/{edition_id}/attest'),
  summary: 'Attest an edition; a closing edition resolves the signals under investigation and closes the insight',
  method: 'POST',
  tool: 'edition_attest',
  input: uidInput.extend({ edition_id: uid, rationale: rationale.optional() }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:attest',
  versioned: true,

  async run(call, { uid: insight_id, edition_id, rationale }) {
    const change = await changeInsightWithSignals(call, insight_id, { edition_id }, (current, signalStates) =>
      attestEdition(current, edition_id, signalStates, attributeAction(call, rationale)),
    )
    return isRefusal(change) ? change : showInsight(change)
  },
})
