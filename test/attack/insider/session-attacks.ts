// An insider and the sessions: those of the honest site, of another peer, and its own.
import { expect } from 'vitest'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { get as getEmission } from '../../../daemon/roles/consensus/emission/get.ts'
import { emissionId } from '../../../daemon/roles/consensus/emission/rules.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { buildDissent } from '../../support/consensus/build-dissent.ts'
import { buildOpinions } from '../../support/consensus/opinions.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildInvitation,
  buildOpinion,
  type InsiderAttack,
  type InsiderStage,
  nextSessionId,
  sessionPolicy,
} from './insider-attack.ts'
import type { InsiderPeer } from './insider-peer.ts'

const at = new Date(noon).toISOString()
const retraction = { at, was: 'RATIFIED' as const }

function buildConflict(session_id: string) {
  const opinions = buildOpinions([0], [1])
  const decided = decide(sessionPolicy, opinions)
  if (decided.state !== 'IN_CONFLICT') throw new Error('two contributors at the extremes are in conflict')
  const body = buildDissent(sessionPolicy, opinions, decided)
  return {
    id: session_id.replace('ses_', 'dis_'),
    session_id,
    lens_id: 'lens-1',
    created_at: at,
    status: 'open' as const,
    body,
  }
}

/** The peer votes; each target is a session that it may not vote in. */
const contributions: readonly InsiderAttack[] = [
  {
    name: 'votes in a session that it was not invited to',
    act: (stage) => stage.peer.send('contribution', buildOpinion(stage, stage.bystander_session)),
    quarantined: ['REFUSED not_contributor'],
  },
  {
    name: 'votes in a session that another peer hosts',
    act: (stage) => stage.peer.send('contribution', buildOpinion(stage, stage.followed_session)),
    quarantined: ['REFUSED session_closed'],
  },
  {
    name: 'votes in a session that does not exist',
    act: (stage) => stage.peer.send('contribution', buildOpinion(stage, nextSessionId())),
    quarantined: ['REFUSED not_found'],
  },
  {
    name: 'votes three times, to be three contributors',
    act: async (stage) => {
      for (const score of [0.1, 0.2, 0.3])
        await stage.peer.send('contribution', buildOpinion(stage, stage.session, score))
    },
    holds: async ({ world, session }) => {
      expect(await world.readSession(session)).toMatchObject({ contributors: 1, state: 'PENDING_QUORUM' })
    },
  },
  {
    name: 'votes in the name of a contributor of the honest site',
    act: (stage) =>
      stage.peer.send('contribution', {
        ...buildOpinion(stage, stage.session),
        contributor_id: 'alice',
        signer_key_id: 'alice-1',
      }),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'uses the message id of its first vote for another one',
    act: async (stage) => {
      const [first = ''] = await stage.world.listContributionIds(stage.session)
      await stage.peer.send('contribution', buildOpinion(stage, stage.session, 0.1), { statement: { msg_id: first } })
    },
    quarantined: ['REFUSED idempotency_mismatch'],
  },
  {
    name: 'uses the message id of another peer’s vote',
    act: async (stage) => {
      const { world, session } = stage
      const [msg_id = ''] = await world.listContributionIds(stage.bystander_session)
      await stage.peer.send('contribution', buildOpinion(stage, session, 0.7), { statement: { msg_id } })
      await waitUntil(async () => (await world.listContributionIds(session)).includes(msg_id))
    },
  },
]

const invitations: readonly InsiderAttack[] = [
  {
    name: 'invites to a session under the id of one that another peer hosts',
    act: ({ peer, followed_session }) => peer.send('invitation', buildInvitation(peer, followed_session)),
    quarantined: ['REFUSED already_exists'],
  },
  {
    name: 'changes the policy of a session by a second invitation',
    act: async ({ peer }) => {
      const id = nextSessionId()
      await peer.send('invitation', buildInvitation(peer, id))
      await peer.send('invitation', { ...buildInvitation(peer, id), policy: { ...sessionPolicy, m: 1, n: 1 } })
    },
    quarantined: ['REFUSED already_exists'],
  },
  ...(
    [
      ['that more must agree than may', { m: 4, n: 3 }],
      ['that nobody must agree', { m: 0, n: 3 }],
      ['that a million may agree', { m: 1, n: 1_000_000 }],
      ['that every score is a match', { ratify_threshold: 0 }],
      ['that the same contributor counts twice', { n: 2, contributors: ['x', 'x'] }],
      ['what no combiner knows', { combination_method: 'majority' }],
      ['an end that is no time', { deadline: 'tomorrow' }],
    ] as const
  ).map(
    ([what, policy]): InsiderAttack => ({
      name: `says in the policy of its session ${what}`,
      act: async ({ peer }) =>
        peer.send('invitation', { ...buildInvitation(peer, nextSessionId()), policy: { ...sessionPolicy, ...policy } }),
      quarantined: ['REFUSED invalid'],
    }),
  ),
]

/** A result about a session that the peer does not host. */
const outcomesFor = (
  name: string,
  session: (stage: InsiderStage) => string,
  code: string,
): readonly InsiderAttack[] => [
  {
    name: `retracts ${name}`,
    act: (stage) => stage.peer.send('result', { session_id: session(stage), retraction }),
    quarantined: [`REFUSED ${code}`],
  },
  {
    name: `reports a conflict in ${name}`,
    act: (stage) => stage.peer.send('result', { session_id: session(stage), dissent: buildConflict(session(stage)) }),
    quarantined: [`REFUSED ${code}`],
  },
]

/** Accepts the peer's invitation at the honest site. */
async function hostSession({ peer, world }: InsiderStage): Promise<string> {
  const id = nextSessionId()
  await peer.send('invitation', buildInvitation(peer, id))
  await waitUntil(() => world.readSession(id).then(Boolean, () => false))
  return id
}

const results: readonly InsiderAttack[] = [
  ...outcomesFor(
    'a session that the honest site hosts',
    ({ bystander_session }) => bystander_session,
    'not_your_tenant',
  ),
  ...outcomesFor('a session of the honest site in which it votes', ({ session }) => session, 'not_your_tenant'),
  ...outcomesFor('a session that another peer hosts', ({ followed_session }) => followed_session, 'not_your_tenant'),
  ...outcomesFor('a session that does not exist', () => 'ses_ffffffffffffffffffffffffffffffff', 'not_found'),
  {
    name: 'reports nothing at all',
    act: async (stage) => stage.peer.send('result', { session_id: await hostSession(stage), evidence: null }),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'retracts its session, and then ratifies it again by a dissent',
    act: async (stage) => {
      const id = await hostSession(stage)
      await stage.peer.send('result', { session_id: id, retraction })
      await stage.peer.send('result', { session_id: id, dissent: buildConflict(id) })
      await waitUntil(async () => (await stage.world.readSession(id)).state === 'WITHDRAWN')
    },
  },
]

const buildEmission = (session_id: string, more = {}) => ({
  ...{ event: 'ratified', session_id, seq: 5, at, lens_id: 'lens-1', lens_version: '1', decision: 'match', score: 0.9 },
  ...{ attested: false, ...more },
})

async function readEmission({ world }: InsiderStage, { name }: InsiderPeer, session_id: string) {
  return await world.person.call(getEmission, { id: emissionId(name, session_id) })
}

const emissions: readonly InsiderAttack[] = [
  {
    name: 'decides a session of the honest site by an emission',
    act: ({ peer, bystander_session }) => peer.send('lens_emission', buildEmission(bystander_session)),
    holds: async (stage) => {
      const { value } = await readEmission(stage, stage.peer, stage.bystander_session)
      expect(value).toMatchObject({ origin: stage.peer.name, origin_tenant_id: stage.peer.tenant_id })
    },
  },
  {
    name: 'emits other content under the event number of its first emission',
    act: async ({ peer }) => {
      const id = nextSessionId()
      await peer.send('lens_emission', buildEmission(id))
      await peer.send('lens_emission', buildEmission(id, { decision: 'non_match' }))
    },
    quarantined: ['REFUSED idempotency_mismatch'],
  },
  {
    name: 'decides again after its retraction',
    act: async ({ peer }) => {
      const id = nextSessionId()
      for (const [event, seq] of [
        ['ratified', 5],
        ['retracted', 6],
        ['ratified', 7],
      ] as const)
        await peer.send('lens_emission', buildEmission(id, { event, seq }))
    },
    quarantined: ['REFUSED session_closed'],
  },
  {
    name: 'emits in the name of another peer',
    act: ({ peer }) => peer.send('lens_emission', buildEmission(nextSessionId(), { origin: 'charlie' })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'emits a score above one',
    act: ({ peer }) => peer.send('lens_emission', buildEmission(nextSessionId(), { score: 7 })),
    quarantined: ['REFUSED invalid'],
  },
]

export const sessionAttacks = [...contributions, ...invitations, ...results, ...emissions]
