// Decides a session in conflict as a person, with a rationale that becomes part of the evidence.

import { formatSession } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus attest',
  summary: 'decide a session in conflict as a person',
  positionals: { id: required(text('SESSION', 'the session’s id')) },
  options: {
    decision: required(choice('DECISION', 'what is true', ['match', 'non_match'])),
    rationale: required(text('TEXT', 'why; part of the evidence')),
    ifVersion: integer('VERSION', 'only if the session is still at this version', 1),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform consensus attest ses_… --decision match --rationale "same passport, seen on 3 May"',
  async run(given, terminal) {
    const { id, decision, rationale, ifVersion, idempotencyKey } = given
    const api = await connectService(given, terminal)
    const session = await api.call(
      'consensus.session.attest',
      { id, decision, rationale },
      {
        ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
        ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
      },
    )
    printResult(terminal, given.json, session, () => formatSession(terminal, session))
    return 0
  },
})
