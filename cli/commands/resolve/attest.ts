// Attests what a named attester found of a match, and on what evidence.
import { listChoices } from '../../client/operations.ts'
import { formatMatch } from '../../format/match.ts'
import { connectServiceWithSubject, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve attest',
  summary: 'attest that a match is right, wrong or open, with evidence',
  notes:
    'It counts as a review does. An attester that others speak for is enrolled in resolution.attesters of the profile.',
  positionals: { match: required(text('MATCH', 'the match’s id')) },
  options: {
    decision: required(
      choice('DECISION', 'whether both are one', listChoices('resolution.entity-match.attest', 'decision')),
    ),
    evidence: text('TEXT', 'what it rests on'),
    attester: text('ATTESTER', 'who attests; else the caller'),
    ifVersion: integer('VERSION', 'only if the match is still at this version', 1),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...serviceOptions,
  },
  example: 'platform resolve attest match_… --decision confirm --evidence "same passport, seen on 3 May"',
  async run(given, terminal) {
    const { match: correlation_id, decision, evidence, ifVersion: if_match, idempotencyKey: idempotency_key } = given
    const { api, subject } = await connectServiceWithSubject(given, terminal)
    const match = await api.call(
      'resolution.entity-match.attest',
      { correlation_id, attester_id: given.attester ?? subject, decision, evidence },
      {
        ...(if_match === undefined ? {} : { if_match }),
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      },
    )
    printResult(terminal, given.json, match, () => formatMatch(terminal, match))
    return 0
  },
})
