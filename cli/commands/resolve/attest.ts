// Says of a match of the service what a named attester found, and on what evidence.
import { command } from '../../command.ts'
import { matchText } from '../../match-text.ts'
import { show } from '../../output.ts'
import { choice, decimal, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve attest',
  summary: 'attest that a match of the service is right, wrong or open; it counts as a review does',
  takes: {
    id: needed(text('MATCH', 'the match’s id')),
    decision: needed(choice('DECISION', 'what it is', ['confirm', 'reject', 'defer'])),
  },
  options: {
    attester: needed(text('NAME', 'who attests: the caller, or an attester that the profile lets it speak for')),
    evidence: text('TEXT', 'on what evidence'),
    adjust: decimal('N', 'added to the probability where confidence is told, from -1 to 1, as in --adjust=-0.1', -1, 1),
    idempotencyKey: text('KEY', 'a repeat with the same key is the same attestation'),
    ...serviceOptions,
  },
  example: 'platform resolve attest match_… confirm --attester registrar --evidence "birth register 1971/204"',
  async run(given, terminal) {
    const { id: correlation_id, decision, attester: attester_id, evidence, adjust, idempotencyKey } = given
    const api = await service(given, terminal)
    const match = await api.call(
      'resolution.entity-match.attest',
      { correlation_id, attester_id, decision, evidence, confidence_adjustment: adjust },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    show(terminal, given.json, match, () => matchText(terminal, match))
    return 0
  },
})
