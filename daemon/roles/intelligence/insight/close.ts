// Closes an insight whose signals are all dealt with.
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { rationale, uidInput } from '../fields.ts'
import { deedOf } from '../signal/change.ts'
import { changeByStandings } from './change.ts'
import { insight } from './model.ts'
import { insightPaths } from './paths.ts'
import { closed } from './rules.ts'
import { shown } from './view.ts'

export const close = operation({
  ...insightPaths('/{uid}/close'),
  summary: 'Close an insight; refused while a linked signal is neither resolved nor dismissed',
  method: 'POST',
  tool: 'insight_close',
  input: uidInput.extend({ rationale }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid, rationale: why }) {
    const done = await changeByStandings(call, uid, {}, (current, standings) =>
      closed(current, standings, deedOf(call, why)),
    )
    return isRefused(done) ? done : shown(done)
  },
})
