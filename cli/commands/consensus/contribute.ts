// Adds a contribution to a session.

import { label, normaliseLabel } from '../../../daemon/kernel/label/label.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ServiceClient } from '../../client/client.ts'
import { formatSession } from '../../format/session.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../options/passphrase.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { decimal, nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'consensus contribute',
  summary: 'Add a contribution to a session',
  notes: [
    'The contributor is the subject of the token, or one that the profile (consensus.contributors) lets that',
    'subject represent. With --sign the evidence proves the contribution: the person must be enrolled (`platform',
    'people add`) with the key that --key names.',
  ].join('\n'),
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    contributor: required(text('ID', 'Contributor')),
    score: required(decimal('SHARE', 'Probability that the pair matches: 1 a match, 0 a non-match', 0, 1)),
    accuracy: required(decimal('SHARE', 'Accuracy of this kind of judgement', 0, 1)),
    credibility: required(decimal('SHARE', 'Credibility of the contributor', 0, 1)),
    key: required(text('KEY', 'Id of a key enrolled for the contributor')),
    sign: text('FILE', 'Your personal key, to sign the contribution with'),
    parents: nameList('BLOCK,...', 'At a session of a peer: ids of evidence blocks that it rests on (default: none)'),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key changes nothing'),
    ...classificationOptions,
    releasableTo: nameList('A,B', 'Tenants or nationalities that may see it (default: as the session)'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform consensus contribute ses_… --contributor alice --score 0.9 --accuracy 0.9 --credibility 0.8 --key alice-1',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const opinion = {
      contributor_id: params.contributor,
      pair_score: params.score,
      accuracy: params.accuracy,
      credibility: params.credibility,
    }
    const classification = await resolveClassification(params, terminal)
    const session = await api.call(
      'consensus.session.contribute',
      {
        id: params.id,
        ...opinion,
        signer_key_id: params.key,
        ...(params.parents.length ? { parent_block_ids: params.parents } : {}),
        ...(params.sign === undefined
          ? { classification }
          : await signOpinion(api, terminal, { ...params, sign: params.sign }, opinion, classification)),
      },
      params.idempotencyKey ? { idempotency_key: params.idempotencyKey } : {},
    )
    printResult(terminal, params.json, session, () => formatSession(terminal, session))
    return 0
  },
})

type SigningParams = { readonly id: string; readonly sign: string; readonly passphraseFile: string | undefined }
type OpinionParams = Readonly<Record<'pair_score' | 'accuracy' | 'credibility', number>> & {
  readonly contributor_id: string
}

/** Signs over the whole label, which is that of the session as far as the options do not say otherwise. */
async function signOpinion(
  api: ServiceClient,
  terminal: Terminal,
  params: SigningParams,
  opinion: OpinionParams,
  chosen: Awaited<ReturnType<typeof resolveClassification>>,
) {
  const session = await api.call('consensus.session.get', { id: params.id })
  const { policy, releasable_to, originator } = label.parse(session.classification)
  const {
    level,
    categories,
    releasable_to: audience,
  } = typeof chosen === 'string' ? { level: chosen, categories: undefined, releasable_to: undefined } : chosen
  const whole = {
    policy,
    level,
    categories: categories ?? [],
    releasable_to: audience ?? releasable_to ?? [originator],
  }
  const signed = normaliseLabel({ ...whole, originator: String(session.tenant_id) })
  const { signContribution } = await offline.personalSignature()
  const passphrase = await resolveKeyFilePassphrase(terminal, params, params.sign)
  const content = { ...opinion, session_id: params.id, classification: signed }
  const signature = await signContribution(params.sign, content, new Date().toISOString(), passphrase)
  return { classification: whole, signature }
}
