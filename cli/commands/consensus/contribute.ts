// Adds a contribution to a session.

import { formatSession } from '../../format/session.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { decimal, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus contribute',
  summary: 'Add a contribution to a session',
  notes: [
    'The contributor is the subject of the token, or one that the profile (consensus.contributors) lets that',
    'subject represent.',
  ].join('\n'),
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    contributor: required(text('ID', 'Contributor')),
    score: required(decimal('SHARE', 'Probability that the pair matches: 1 a match, 0 a non-match', 0, 1)),
    accuracy: required(decimal('SHARE', 'Accuracy of this kind of judgement', 0, 1)),
    credibility: required(decimal('SHARE', 'Credibility of the contributor', 0, 1)),
    key: required(text('KEY', 'Id of a key enrolled for the contributor')),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key changes nothing'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform consensus contribute ses_… --contributor alice --score 0.9 --accuracy 0.9 --credibility 0.8 --key alice-1',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const session = await api.call(
      'consensus.session.contribute',
      {
        id: params.id,
        contributor_id: params.contributor,
        pair_score: params.score,
        accuracy: params.accuracy,
        credibility: params.credibility,
        signer_key_id: params.key,
        classification: await resolveClassification(params, terminal),
      },
      params.idempotencyKey ? { idempotency_key: params.idempotencyKey } : {},
    )
    printResult(terminal, params.json, session, () => formatSession(terminal, session))
    return 0
  },
})
