// Starts the investigation: linked signals that are not further yet go with it.
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { uidInput } from '../fields.ts'
import { deedOf } from '../signal/change.ts'
import { changeInsight } from './change.ts'
import { insight } from './model.ts'
import { insightPaths } from './paths.ts'
import { started } from './rules.ts'
import { shown } from './view.ts'

export const start = operation({
  ...insightPaths('/{uid}/start'),
  summary: 'Start the investigation of an insight; its linked signals follow',
  method: 'POST',
  tool: 'insight_start_investigation',
  input: uidInput,
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid }) {
    const done = await changeInsight(call, uid, {}, (current) => started(current, deedOf(call)))
    return isRefused(done) ? done : shown(done)
  },
})
