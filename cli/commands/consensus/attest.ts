// Decides a session in conflict as a person; the rationale becomes part of the evidence.

import { formatSession } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus attest',
  summary: 'Decide a session in conflict as a person',
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    decision: required(choice('DECISION', 'Decision', ['match', 'non_match'])),
    rationale: required(text('TEXT', 'Rationale, part of the evidence')),
    parents: nameList('BLOCK,...', 'Ids of evidence blocks that the decision rests on (default: none)'),
    ifVersion: integer('VERSION', 'Change the session only if it is still at this version', 1),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform consensus attest ses_… --decision match --rationale "same passport, seen on 3 May"',
  async run(params, terminal) {
    const { id, decision, rationale, parents, ifVersion, idempotencyKey } = params
    const api = await connectService(params, terminal)
    const session = await api.call(
      'consensus.session.attest',
      { id, decision, rationale, ...(parents.length ? { parent_block_ids: parents } : {}) },
      {
        ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
        ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
      },
    )
    printResult(terminal, params.json, session, () => formatSession(terminal, session))
    return 0
  },
})
