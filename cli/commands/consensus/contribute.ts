// Adds an opinion to a session.
import { classificationOf, classificationOptions } from '../../classification.ts'
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { decimal, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionText } from '../../session-text.ts'

export const definition = command({
  words: 'consensus contribute',
  summary: 'add an opinion to a session',
  notes: 'The contributor is the token’s subject, or one that the profile (consensus.contributors) lets it speak for.',
  takes: { id: needed(text('SESSION', 'the session’s id')) },
  options: {
    contributor: needed(text('ID', 'whose opinion it is')),
    score: needed(decimal('SHARE', 'how much the pair is one: 1 a match, 0 none', 0, 1)),
    accuracy: needed(decimal('SHARE', 'how well this kind of judgement turns out', 0, 1)),
    credibility: needed(decimal('SHARE', 'how far the contributor is believed', 0, 1)),
    key: needed(text('KEY', 'id of a key enrolled for the contributor')),
    idempotencyKey: text('KEY', 'a repeat with the same key changes nothing'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform consensus contribute ses_… --contributor alice --score 0.9 --accuracy 0.9 --credibility 0.8 --key alice-1',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const session = await api.call(
      'consensus.session.contribute',
      {
        id: given.id,
        contributor_id: given.contributor,
        pair_score: given.score,
        accuracy: given.accuracy,
        credibility: given.credibility,
        signer_key_id: given.key,
        classification: await classificationOf(given, terminal),
      },
      given.idempotencyKey ? { idempotency_key: given.idempotencyKey } : {},
    )
    show(terminal, given.json, session, () => sessionText(terminal, session))
    return 0
  },
})
