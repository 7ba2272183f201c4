// Decides a match as a person: the last word of a person counts over consensus and engine.
import { choicesOf } from '../../client/operations.ts'
import { command } from '../../command.ts'
import { matchText } from '../../match-text.ts'
import { show } from '../../output.ts'
import { choice, needed, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve review',
  summary: 'confirm, reject or defer a match; clusters follow',
  notes: 'Nothing said before is overwritten; the last word counts. To defer takes a decision back.',
  takes: { match: needed(text('MATCH', 'the match’s id')) },
  options: {
    decision: needed(
      choice('DECISION', 'whether both are one', choicesOf('resolution.entity-match.review', 'decision')),
    ),
    reason: text('TEXT', 'why'),
    ifVersion: whole('VERSION', 'only if the match is still at this version', 1),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform resolve review match_… --decision reject --reason "father and son"',
  async run(given, terminal) {
    const { match: correlation_id, decision, reason, ifVersion: if_match, idempotencyKey: idempotency_key } = given
    const api = await service(given, terminal)
    const match = await api.call(
      'resolution.entity-match.review',
      { correlation_id, decision, reason },
      {
        ...(if_match === undefined ? {} : { if_match }),
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      },
    )
    show(terminal, given.json, match, () => matchText(terminal, match))
    return 0
  },
})
