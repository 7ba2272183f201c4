// Confirms, rejects or defers a match of the service.
import { command } from '../../command.ts'
import { matchText } from '../../match-text.ts'
import { show } from '../../output.ts'
import { choice, decimal, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve review',
  summary: 'confirm, reject or defer a match of the service; clusters follow',
  notes: 'The last word of a person counts, over consensus and engine; `defer` takes back what people said before.',
  takes: {
    id: needed(text('MATCH', 'the match’s id')),
    decision: needed(choice('DECISION', 'what it is', ['confirm', 'reject', 'defer'])),
  },
  options: {
    reason: text('TEXT', 'why'),
    adjust: decimal('N', 'added to the probability where confidence is told, from -1 to 1, as in --adjust=-0.1', -1, 1),
    idempotencyKey: text('KEY', 'a repeat with the same key is the same review'),
    ...serviceOptions,
  },
  example: 'platform resolve review match_… confirm --reason "the same passport"',
  async run(given, terminal) {
    const { id: correlation_id, decision, reason, adjust: confidence_adjustment, idempotencyKey } = given
    const api = await service(given, terminal)
    const match = await api.call(
      'resolution.entity-match.review',
      { correlation_id, decision, reason, confidence_adjustment },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    show(terminal, given.json, match, () => matchText(terminal, match))
    return 0
  },
})
