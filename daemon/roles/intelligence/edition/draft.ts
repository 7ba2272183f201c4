// Adds an edition to an insight: what it has come to say, to be attested.
import { digestOf } from '../../../kernel/canonical.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { uidInput } from '../fields.ts'
import { changeInsight } from '../insight/change.ts'
import { insight } from '../insight/model.ts'
import { insightPaths } from '../insight/paths.ts'
import { drafted } from '../insight/rules.ts'
import { shown } from '../insight/view.ts'
import { saidEdition } from './model.ts'

export const draft = operation({
  ...insightPaths('/{uid}/edition'),
  summary: 'Add an edition to an insight; one that closes ends the investigation once it is attested',
  method: 'POST',
  tool: 'edition_draft',
  input: uidInput.extend({ ...saidEdition, closes: saidEdition.closes.default(false) }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'idempotency_mismatch', 'precondition_failed'],
  allow: 'intelligence:review',
  creates: true,
  versioned: true,

  async run(call, { uid, ...said }) {
    const edition_id = call.newId('edn')
    const { subject: created_by } = call.caller
    const edition = { edition_id, ...said, created_by, created_at: call.nowIso(), request_digest: digestOf(said) }
    const done = await changeInsight(call, uid, { edition_id }, (current) => drafted(current, edition))
    return isRefused(done) ? done : shown(done)
  },
})
