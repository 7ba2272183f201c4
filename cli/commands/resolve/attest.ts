// Attests that a match is right, wrong or open, on behalf of a named attester, with evidence.
import { listChoices } from '../../client/operations.ts'
import { formatMatch } from '../../format/match.ts'
import { connectServiceWithSubject, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve attest',
  summary: 'Attest that a match is right, wrong or open, with evidence',
  notes: 'Counts as a review does. Enrol an attester whom others represent in resolution.attesters of the profile.',
  positionals: { match: required(text('MATCH', 'Id of the match')) },
  options: {
    decision: required(
      choice('DECISION', 'Decision on the match', await listChoices('resolution.entity-match.attest', 'decision')),
    ),
    evidence: text('TEXT', 'Evidence for the decision'),
    attester: text('ATTESTER', 'Attester (default: the caller)'),
    ifVersion: integer('VERSION', 'Change the match only if it is still at this version', 1),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform resolve attest match_… --decision confirm --evidence "same passport, seen on 3 May"',
  async run(params, terminal) {
    const { match: correlation_id, decision, evidence, ifVersion: if_match, idempotencyKey: idempotency_key } = params
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const match = await api.call(
      'resolution.entity-match.attest',
      { correlation_id, attester_id: params.attester ?? subject, decision, evidence },
      {
        ...(if_match === undefined ? {} : { if_match }),
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      },
    )
    printResult(terminal, params.json, match, () => formatMatch(terminal, match))
    return 0
  },
})
