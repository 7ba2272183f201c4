// Adds an edition to an insight, for attestation.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { changeInsight } from '../insight/change-insight.ts'
import { insight } from '../insight/model.ts'
import { showInsight } from '../insight/view.ts'
import { objectPaths } from '../object-paths.ts'
import { editionInput } from './model.ts'
import { addEdition } from './rules.ts'

export const draft = operation({
  ...objectPaths('insight', '/{uid}/edition'),
  summary: 'Add an edition to an insight; the attestation of a closing edition ends the investigation',
  method: 'POST',
  tool: 'edition_draft',
  input: uidInput.extend({ ...editionInput, closes: editionInput.closes.default(false) }),
  output: insight,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'idempotency_mismatch', 'precondition_failed'],
  allow: 'intelligence:review',
  creates: true,
  versioned: true,

  async run(call, { uid, ...fields }) {
    const edition_id = call.newId('edn')
    const { subject: created_by } = call.caller
    const edition = {
      edition_id,
      ...fields,
      created_by,
      created_at: call.nowIso(),
      request_digest: canonicalDigest(fields),
    }
    const change = await changeInsight(call, uid, { edition_id }, (current) => addEdition(current, edition))
    return isRefusal(change) ? change : showInsight(change)
  },
})
