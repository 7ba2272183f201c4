// Decides a session in conflict as a person, with a rationale that becomes part of the evidence.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { choice, needed, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionText } from '../../session-text.ts'

export const definition = command({
  words: 'consensus attest',
  summary: 'decide a session in conflict as a person',
  takes: { id: needed(text('SESSION', 'the session’s id')) },
  options: {
    decision: needed(choice('DECISION', 'what is true', ['match', 'non_match'])),
    rationale: needed(text('TEXT', 'why; part of the evidence')),
    ifVersion: whole('VERSION', 'only if the session is still at this version', 1),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform consensus attest ses_… --decision match --rationale "same passport, seen on 3 May"',
  async run(given, terminal) {
    const { id, decision, rationale, ifVersion, idempotencyKey } = given
    const api = await service(given, terminal)
    const session = await api.call(
      'consensus.session.attest',
      { id, decision, rationale },
      {
        ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
        ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
      },
    )
    show(terminal, given.json, session, () => sessionText(terminal, session))
    return 0
  },
})
