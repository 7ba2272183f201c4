// Decides a match as a person; the latest review overrides consensus and engine.
import { listChoices } from '../../client/operations.ts'
import { formatMatch } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve review',
  summary: 'Confirm, reject or defer a match; clusters follow',
  notes: 'The latest decision counts; earlier ones stay on record. Defer takes a decision back.',
  positionals: { match: required(text('MATCH', 'Id of the match')) },
  options: {
    decision: required(
      choice('DECISION', 'Decision on the match', await listChoices('resolution.entity-match.review', 'decision')),
    ),
    reason: text('TEXT', 'Reason'),
    ifVersion: integer('VERSION', 'Change the match only if it is still at this version', 1),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform resolve review match_… --decision reject --reason "father and son"',
  async run(params, terminal) {
    const { match: correlation_id, decision, reason, ifVersion: if_match, idempotencyKey: idempotency_key } = params
    const api = await connectService(params, terminal)
    const match = await api.call(
      'resolution.entity-match.review',
      { correlation_id, decision, reason },
      {
        ...(if_match === undefined ? {} : { if_match }),
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      },
    )
    printResult(terminal, params.json, match, () => formatMatch(terminal, match))
    return 0
  },
})
