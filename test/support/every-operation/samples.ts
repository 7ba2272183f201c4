// One good request for each operation that needs more than its address: the only thing that a new operation must add here.
import { clientSecret } from '../small-site.ts'
import { contribution, invitation, label, type Stage, sessionInput } from './stage.ts'

export type Sample = {
  readonly input: Record<string, unknown>
  /** For operations that honour an Idempotency-Key: a request to repeat, and what makes it another one. */
  readonly keyed?: { readonly input: Record<string, unknown>; readonly another: Record<string, unknown> }
  /** What a caller without clearance may say, where the sample itself is above it. */
  readonly uncleared?: Record<string, unknown>
  /** The operation reads or changes a tenant's object; true for every path parameter unless said otherwise. */
  readonly isTenants?: boolean
}

type Samples = Readonly<Record<string, (stage: Stage) => Sample | Promise<Sample>>>

const site: Samples = {
  'site.token.issue': () => ({
    input: { grant_type: 'client_credentials', client_id: 'gateway', client_secret: clientSecret },
  }),
  'site.token.revoke': () => ({ input: { jti: 'tok_of_nobody', reason: 'sample' } }),
  // Peers are the site's, not a tenant's; and an unknown peer is an answer (not allowed), not an error.
  'site.peer.crossing': () => ({ input: { name: 'bravo', label }, isTenants: false }),
  'site.message.send': () => ({
    input: {
      peer: 'bravo',
      event_id: 'sample',
      kind: 'signal',
      schema: 'sample/1',
      body: {},
      label,
      parent_block_ids: [],
    },
  }),
  'site.message.verify': async ({ delivered }) => {
    const { envelope } = await delivered('result', { session_id: 'ses_of_a_sample' })
    return { input: { peer: 'bravo', type: 'statement', envelope } }
  },
  'site.signature.create': () => ({ input: { type: 'evidence', payload: 'e30' } }),
  'site.checkpoint.create': () => ({ input: { writer: 'someone@elsewhere', seq: 7, hash: 'a'.repeat(64) } }),
}

const consensus: Samples = {
  'consensus.session.create': () => ({
    input: sessionInput(),
    keyed: { input: sessionInput(), another: { lens_version: '2' } },
  }),
  'consensus.session.get': ({ open }) => ({ input: { id: open } }),
  'consensus.session.contribute': ({ open, openToo }) => ({
    input: { id: open, ...contribution('alice', 1) },
    keyed: { input: { id: openToo, ...contribution('alice', 1) }, another: { pair_score: 0.5 } },
    uncleared: { classification: 'UNCLASSIFIED' },
  }),
  'consensus.session.resolve': ({ open }) => ({ input: { id: open } }),
  'consensus.session.attest': ({ conflict, conflictToo }) => ({
    input: { id: conflict, decision: 'match', rationale: 'seen by two' },
    keyed: {
      input: { id: conflictToo, decision: 'match', rationale: 'seen by two' },
      another: { rationale: 'on second thoughts' },
    },
  }),
  'consensus.session.cancel': ({ doomed }) => ({ input: { id: doomed } }),
  'consensus.session.events': ({ open }) => ({ input: { id: open } }),
  'consensus.contribution.list': ({ ratified }) => ({ input: { id: ratified } }),
  'consensus.dissent.get': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.dissent.by-session': ({ conflict }) => ({ input: { session_id: conflict } }),
  'consensus.dissent.explain': ({ dissent }) => ({ input: { id: dissent } }),
  'consensus.evidence.get': ({ evidence }) => ({ input: { block_id: evidence } }),
  'consensus.federation.contribute': async ({ shared, delivered }) => ({
    input: await delivered('contribution', {
      session_id: shared,
      pair_score: 1,
      accuracy: 0.9,
      credibility: 0.9,
      classification: label,
    }),
    isTenants: true,
  }),
  // Makes an object of the tenant that the signed message names.
  'consensus.federation.invite': async ({ delivered }) => ({
    input: await delivered('invitation', invitation('ses_of_a_sample')),
  }),
  'consensus.federation.result': async ({ followed, delivered }) => ({
    input: await delivered('result', { session_id: followed }),
    isTenants: true,
  }),
}

export const samples: Samples = { ...site, ...consensus }
