// Decides a match as a person: the last word of a person counts over consensus and engine.
import { listChoices } from '../../client/operations.ts'
import { formatMatch } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve review',
  summary: 'confirm, reject or defer a match; clusters follow',
  notes: 'Nothing said before is overwritten; the last word counts. To defer takes a decision back.',
  positionals: { match: required(text('MATCH', 'the match’s id')) },
  options: {
    decision: required(
      choice('DECISION', 'whether both are one', listChoices('resolution.entity-match.review', 'decision')),
    ),
    reason: text('TEXT', 'why'),
    ifVersion: integer('VERSION', 'only if the match is still at this version', 1),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform resolve review match_… --decision reject --reason "father and son"',
  async run(given, terminal) {
    const { match: correlation_id, decision, reason, ifVersion: if_match, idempotencyKey: idempotency_key } = given
    const api = await connectService(given, terminal)
    const match = await api.call(
      'resolution.entity-match.review',
      { correlation_id, decision, reason },
      {
        ...(if_match === undefined ? {} : { if_match }),
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      },
    )
    printResult(terminal, given.json, match, () => formatMatch(terminal, match))
    return 0
  },
})
