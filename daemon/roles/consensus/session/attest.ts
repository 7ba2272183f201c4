// Lets a person decide a session in conflict; the attestation becomes part of the evidence.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { decision } from '../combine/decide.ts'
import { parentBlocks } from '../fields.ts'
import { changeSession } from './change-session.ts'
import { idInput, session } from './model.ts'
import { ratifySession } from './rules.ts'
import { showSession } from './view.ts'

export const attest = operation({
  summary: 'Decide a session in conflict as a person, with a rationale',
  method: 'POST',
  path: '/api/v2/consensus/session/{id}/attest',
  tool: 'consensus_session_attest',
  input: idInput.extend({
    decision,
    rationale: z.string().trim().min(1).max(4_096),
    parent_block_ids: parentBlocks
      .default([])
      .meta({ description: 'Evidence blocks that the decision rests on, of this site or of others' }),
  }),
  output: session,
  errors: ['not_found', 'not_your_tenant', 'session_closed', 'idempotency_mismatch', 'precondition_failed'],
  allow: 'consensus:attest',
  creates: true,
  versioned: true,

  async run(call, { id, parent_block_ids, ...fields }) {
    const rests_on = [...new Set(parent_block_ids)].sort()
    const attestation = { id: call.newId('att'), by: call.caller.subject, at: call.nowIso(), ...fields }
    const change = await changeSession(call, id, 'consensus.session.attest', (current) => {
      if (current.attestation?.id === attestation.id) {
        const same =
          current.attestation.decision === fields.decision &&
          current.attestation.rationale === fields.rationale &&
          canonicalJson(current.rests_on ?? []) === canonicalJson(rests_on)
        return same
          ? current
          : refuse('idempotency_mismatch', 'the idempotency key was used with another request; use a new key')
      }
      if (current.state !== 'IN_CONFLICT')
        return refuse('session_closed', `only a session IN_CONFLICT can be attested; this one is ${current.state}`)
      const attested = { ...current, attestation, ...(rests_on.length > 0 ? { rests_on } : {}) }
      return ratifySession(attested, fields.decision, 'attest', attestation.by, attestation.at)
    })
    return isRefusal(change) ? change : showSession(change)
  },
})
