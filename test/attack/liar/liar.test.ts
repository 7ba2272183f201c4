// Two sites of which one lies with its own keys: the honest one follows no false result, says which session and which peer,
// and goes on with the honest results of the same peer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import type { DissentRecord } from '../../../daemon/roles/consensus/session/dissent/model.ts'
import { buildDissent } from '../../support/consensus/build-dissent.ts'
import { buildOpinions } from '../../support/consensus/opinions.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { addContributions, evidenceLies, namePeople } from './evidence-lies.ts'
import { type LiarSites, startLiarSites } from './liar-sites.ts'
import { lieAboutEvidence, type SignedBlock, signBlock } from './sign-evidence.ts'
import type { MessageLie } from './tampering-carrier.ts'

let world: LiarSites
beforeAll(async () => {
  world = await startLiarSites()
})
afterAll(() => world?.end())

/** A session that bravo hosts and decides: alpha and ben say the same, or the opposite. */
async function decideAtBravo(scores = { alpha: 0.9, ben: 0.8 }): Promise<string> {
  const id = await world.invite()
  await world.contributeAtAlpha(id, scores.alpha)
  await world.contributeAtBravo(id, 'ben', scores.ben)
  await world.waitForResult()
  return id
}

/** The lie is in quarantine, the copy is in conflict for it, and an alarm names the lie, the session and the peer. */
async function expectAlarm(id: string, refused: number): Promise<void> {
  await waitUntil(() => world.carrier.listReasons().length > refused)
  expect(world.carrier.listReasons().slice(refused)).toEqual(['REFUSED result_invalid'])
  const alarms = await world.listAudit('consensus.federation.invalid_result')
  const alarm = alarms.find((text) => text.includes(id))
  expect(alarm).toContain('"peer":"bravo"')
  expect(alarm).toContain('"faults":["')
}

const countRefused = () => world.carrier.listReasons().length

describe('a host that', () => {
  test.for(evidenceLies.map((lie) => [lie.name, lie] as const))('%s', async ([, { change }]) => {
    const id = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(lieAboutEvidence(change))
    await expectAlarm(id, refused)
    expect(await world.readAtAlpha(id)).toMatchObject({ state: 'IN_CONFLICT', reason: 'invalid_result' })
  })

  test('lists five thousand contributions: the message is larger than any may be, and decides nothing', async () => {
    const id = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(lieAboutEvidence((content) => addContributions(content, ...namePeople(4_998))))
    await waitUntil(() => countRefused() > refused)
    expect(world.carrier.listReasons().slice(refused)).toEqual(['TOO_LARGE'])
    expect((await world.readAtAlpha(id)).state).not.toBe('RATIFIED')
  })

  test('quotes the honest site’s message to another session', async () => {
    const other = await decideAtBravo()
    let quoted: SignedBlock['content']['contributions'][number] | undefined
    await world.carrier.carry(
      lieAboutEvidence(({ contributions }) => {
        quoted = contributions.find(({ contributor_id }) => contributor_id === 'tenant-a')
      }),
    )
    await waitUntil(async () => (await world.readAtAlpha(other)).state === 'RATIFIED')
    const id = await decideAtBravo({ alpha: 0.85, ben: 0.8 })
    const refused = countRefused()
    const swap = lieAboutEvidence((content) => {
      const at = content.contributions.findIndex(({ contributor_id }) => contributor_id === 'tenant-a')
      if (quoted) content.contributions[at] = quoted
      content.result = decide(content.policy, content.contributions).combination
    })
    await world.carrier.carry(swap)
    await expectAlarm(id, refused)
  })

  test('reports the evidence of one session as another’s', async () => {
    const first = await decideAtBravo()
    let evidence: unknown
    await world.carrier.carry(({ body }) => {
      evidence = body.data.evidence ?? evidence
    })
    await waitUntil(async () => (await world.readAtAlpha(first)).state === 'RATIFIED')
    const id = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(({ statement, body }) => {
      if (statement.kind === 'result') body.data = { session_id: id, evidence }
    })
    await expectAlarm(id, refused)
    expect(await world.readAtAlpha(id)).toMatchObject({ state: 'IN_CONFLICT' })
    expect(await world.readAtAlpha(first)).toMatchObject({ state: 'RATIFIED' })
  })

  test('signs its evidence for another purpose', async () => {
    const id = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(async ({ statement, body }, sign) => {
      if (statement.kind !== 'result') return
      const { evidence } = body.data as { evidence: SignedBlock }
      body.data = { ...body.data, evidence: await signBlock(evidence, (_, payload) => sign('manifest', payload)) }
    })
    await expectAlarm(id, refused)
  })

  test('decides a second time, with other evidence: the first decision stands', async () => {
    const id = await decideAtBravo()
    let kept: SignedBlock | undefined
    await world.carrier.carry(({ body }) => {
      kept = (body.data as { evidence?: typeof kept }).evidence ?? kept
    })
    await waitUntil(async () => (await world.readAtAlpha(id)).state === 'RATIFIED')
    const before = await world.readAtAlpha(id)
    const next = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(async ({ statement, body }, sign) => {
      if (statement.kind !== 'result' || !kept) return
      const content = { ...kept.content, decided_at: '2026-03-02T12:34:56.000Z' }
      body.data = { session_id: id, evidence: await signBlock({ ...kept, content }, sign) }
    })
    await expectAlarm(id, refused)
    const { state, decision, evidence_block_id } = before
    expect(await world.readAtAlpha(id)).toMatchObject({ state, decision, evidence_block_id })
    expect((await world.readAtAlpha(next)).state).toBe('PENDING_QUORUM')
  })
})

/** The next result of the liar becomes an emission with this content. */
const emitInstead =
  (data: Record<string, unknown>): MessageLie =>
  (message) => {
    if (message.statement.kind !== 'result') return
    const schema = 'consensus.lens_emission/1'
    message.statement = { ...message.statement, kind: 'lens_emission', body: { ...message.statement.body, schema } }
    message.body = { ...message.body, schema, data }
  }

test('a host that emits another decision than its evidence proves: the proven one stands', async () => {
  const id = await decideAtBravo()
  await world.carrier.carry()
  await waitUntil(async () => (await world.readAtAlpha(id)).state === 'RATIFIED')
  const before = await world.readAtAlpha(id)
  const refused = countRefused()
  await decideAtBravo()
  const emission = {
    ...{
      event: 'ratified',
      session_id: id,
      seq: 3,
      at: '2026-03-02T12:00:00.000Z',
      lens_id: 'lens-1',
      lens_version: '1',
    },
    ...{ decision: 'non_match', score: 0.1, attested: false },
  }
  await world.carrier.carry(emitInstead(emission))
  await waitUntil(() => countRefused() > refused)
  expect(world.carrier.listReasons().slice(refused)).toEqual(['REFUSED session_closed'])
  const [alarm] = await world.listAudit('consensus.federation.emission_contradicts')
  expect(alarm).toContain(id)
  expect(alarm).toContain('"peer":"bravo"')
  expect(await world.readAtAlpha(id)).toEqual(before)
})

type DissentLie = readonly [name: string, change: (dissent: DissentRecord) => void]

const dissentLies: readonly DissentLie[] = [
  [
    'misstates the position of the honest site',
    ({ body }) => {
      for (const position of body.positions) if (position.contributor_id === 'tenant-a') position.pair_score = 0.2
    },
  ],
  [
    'names another conflict than follows from the positions',
    ({ body }) => {
      body.conflict = 0.999
    },
  ],
  [
    'names another reason than follows',
    ({ body }) => {
      body.reason = 'inconclusive'
    },
  ],
  [
    'names another lens',
    (dissent) => {
      dissent.lens_id = 'lens-9'
    },
  ],
  [
    'names another session',
    (dissent) => {
      dissent.session_id = `ses_${'b'.repeat(32)}`
    },
  ],
  [
    'blames another contributor',
    ({ body }) => {
      for (const position of body.positions)
        if (position.contributor_id === 'ben') position.contributor_id = 'tenant-charlie'
    },
  ],
]

describe('a host that reports a conflict and', () => {
  test.for(dissentLies)('%s', async ([, change]) => {
    const id = await decideAtBravo({ alpha: 1, ben: 0 })
    const refused = countRefused()
    await world.carrier.carry(({ statement, body }) => {
      const { dissent } = body.data as { dissent?: DissentRecord }
      if (statement.kind === 'result' && dissent) change(dissent)
    })
    await expectAlarm(id, refused)
    expect(await world.readAtAlpha(id)).toMatchObject({ state: 'IN_CONFLICT', reason: 'invalid_result' })
  })

  test('invents it: the honest site and ben agreed', async () => {
    const id = await decideAtBravo()
    const refused = countRefused()
    await world.carrier.carry(({ statement, body }) => {
      if (statement.kind !== 'result') return
      const policy = {
        m: 2,
        n: 3,
        combination_method: 'weighted_average',
        ratify_threshold: 0.8,
        conflict_threshold: 0.5,
      } as const
      const opinions = buildOpinions([1], [0]).map((each, at) => ({ ...each, contributor_id: at ? 'ben' : 'tenant-a' }))
      const decided = decide(policy, opinions)
      if (decided.state !== 'IN_CONFLICT') throw new Error('the two are in conflict')
      const dissent = {
        ...{
          id: id.replace('ses_', 'dis_'),
          session_id: id,
          lens_id: 'lens-1',
          created_at: '2026-03-02T12:00:00.000Z',
        },
        ...{ status: 'open', body: buildDissent(policy, opinions, decided) },
      }
      body.data = { session_id: id, dissent }
    })
    await expectAlarm(id, refused)
  })

  test('retracts the session in the same message', async () => {
    const id = await decideAtBravo({ alpha: 1, ben: 0 })
    const refused = countRefused()
    await world.carrier.carry(({ statement, body }) => {
      if (statement.kind !== 'result') return
      body.data = { ...body.data, retraction: { at: '2026-03-02T12:00:00.000Z', was: 'IN_CONFLICT' } }
    })
    await waitUntil(() => countRefused() > refused)
    expect(world.carrier.listReasons().slice(refused)).toEqual(['REFUSED invalid'])
    expect((await world.readAtAlpha(id)).state).toBe('PENDING_QUORUM')
  })
})

test('after all these lies an honest result of the same peer counts', async () => {
  const id = await decideAtBravo()
  await world.carrier.carry()
  await waitUntil(async () => (await world.readAtAlpha(id)).state === 'RATIFIED')
  expect(await world.readAtAlpha(id)).toMatchObject({ decision: 'match', origin: { peer: 'bravo' } })
})
