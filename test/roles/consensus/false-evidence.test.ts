// A peer that hosts a session lies in its evidence in every way that its own key allows: the copy does not follow, and says why.
import { expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { checkResults } from '../../../daemon/offline/doctor/checks/results.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceContent } from '../../../daemon/roles/consensus/evidence/model.ts'
import { emission } from '../../../daemon/roles/consensus/federation/emission.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { waitUntilDelivered } from './consensus-site.ts'
import { createCarrier, createReader } from './federated-session.ts'
import { lineageLies } from './lineage-lies.ts'
import {
  deliverOutcome,
  expectAlarm,
  type Lie,
  type LyingSession,
  type LyingSites,
  bravoLabel as label,
  invitedPolicy as policy,
  sendToBravo,
  setUpLyingOrigin,
  startLyingSession,
} from './lying-origin.ts'
import {
  buildContent,
  misquote,
  type QuotedContribution,
  quoteLocal,
  quoteMessage,
  signBlock,
  withoutProofs,
} from './origin-evidence.ts'

const sites = await setUpLyingOrigin()

/** The honest block with another content, signed by bravo. */
const stating =
  (change: (session: LyingSession, sites: LyingSites) => EvidenceContent | Promise<EvidenceContent>): Lie =>
  async (session, all) => ({ evidence: await signBlock(all.bravo, await change(session, all)) })
/** A block that follows from these contributions in every way. */
const quoting = (
  change: (session: LyingSession, sites: LyingSites) => QuotedContribution[] | Promise<QuotedContribution[]>,
): Lie => stating(async (session, all) => buildContent(session, await change(session, all)))
const unproven = ({ proof: _proof, msg_id: _id, ...quoted }: QuotedContribution): QuotedContribution => quoted

const lies: Readonly<Record<string, readonly [fault: RegExp, lie: Lie]>> = {
  'a result that does not follow': [
    /the result does not follow/,
    stating(({ honest }) => ({ ...honest, result: { ...honest.result, score: 0.99 } })),
  ],
  'another decision than the score': [
    /the decision does not follow/,
    stating(({ honest }) => ({ ...honest, decision: 'non_match' })),
  ],
  'a thousand contributions where three are allowed': [
    /the contributors are not those of the policy/,
    quoting(({ quoted }) => [
      ...quoted,
      ...Array.from({ length: 997 }, (_, at) => quoteLocal(`invented-${at}`, 1, label)),
    ]),
  ],
  'one contributor twice': [
    /the contributors are not those of the policy/,
    quoting(({ quoted: [own, theirs] }) => [own, theirs, misquote(theirs, { pair_score: 0.99 })]),
  ],
  'fewer contributors than the invitation requires': [
    /the decision does not follow/,
    quoting(({ quoted: [own, theirs] }) => [own, theirs]),
  ],
  'a policy of one where the invitation required three': [
    /differs from the invitation in policy/,
    stating((session) => buildContent({ ...session, policy: { ...policy, m: 1, n: 1 } }, [session.quoted[2]])),
  ],
  'a lower threshold than invited': [
    /differs from the invitation in policy/,
    stating((session) => buildContent({ ...session, policy: { ...policy, ratify_threshold: 0.6 } }, session.quoted)),
  ],
  'a policy that no session can have': [
    /not of its form: .*policy\.m/,
    stating(({ honest }) => ({ ...honest, policy: { ...policy, m: 4 } })),
  ],
  'another lens': [/differs from the invitation in lens_id/, stating(({ honest }) => ({ ...honest, lens_id: 'x' }))],
  'another version of the lens': [
    /differs from the invitation in lens_version/,
    stating(({ honest }) => ({ ...honest, lens_version: '2' })),
  ],
  'a subject that was not invited to': [
    /differs from the invitation in subject/,
    stating(({ honest }) => ({ ...honest, subject: { kind: 'entity_match', left: 'a', right: 'b' } })),
  ],
  'a tenant that does not host': [
    /differs from the invitation in tenant_id/,
    stating(({ honest }) => ({ ...honest, tenant_id: 'tenant-z' })),
  ],
  'a wider label than the invitation': [
    /wider than that of the invitation/,
    stating(({ honest }) => ({
      ...honest,
      label: { ...label, releasable_to: [...(label.releasable_to ?? []), 'tenant-d'] },
    })),
  ],
  'the score of this site changed': [
    /tenant-a: the block differs from the sender’s message in pair_score/,
    quoting(({ quoted: [own, ...rest] }) => [misquote(own, { pair_score: 1 }), ...rest]),
  ],
  'the weight of this site changed': [
    /tenant-a: the block differs from the sender’s message in accuracy/,
    quoting(({ quoted: [own, ...rest] }) => [misquote(own, { accuracy: 0.1 }), ...rest]),
  ],
  'a message of this site that bravo signed': [
    /tenant-a: the message in the name of alpha does not hold/,
    quoting(async ({ session_id, quoted: [, ...rest] }, all) => [
      quoteMessage(await sendToBravo(all, session_id, 1, { from: all.alpha, by: all.bravo })),
      ...rest,
    ]),
  ],
  'this site without its message': [
    /tenant-a: the message of this site is missing/,
    quoting(({ quoted: [own, ...rest] }) => [unproven(own), ...rest]),
  ],
  'the score of a third site changed': [
    /tenant-c: the block differs from the sender’s message in pair_score/,
    quoting(({ quoted: [own, theirs, local] }) => [own, misquote(theirs, { pair_score: 0.99 }), local]),
  ],
  'a lower classification than a third site gave': [
    /tenant-c: the block differs from the sender’s message in classification/,
    quoting(({ quoted: [own, theirs, local] }) => [
      own,
      misquote(theirs, { classification: { ...label, categories: ['X'] } }),
      local,
    ]),
  ],
  'a message of a third site that bravo signed': [
    /tenant-c: the message in the name of charlie does not hold/,
    quoting(async ({ session_id, quoted: [own, , local] }, all) => [
      own,
      quoteMessage(await sendToBravo(all, session_id, 1, { from: all.charlie, by: all.bravo })),
      local,
    ]),
  ],
  'a third site under the name of a site that nobody pinned': [
    /tenant-c: the message in the name of delta does not hold/,
    quoting(async ({ session_id, quoted: [own, , local] }, all) => [
      own,
      quoteMessage(await sendToBravo(all, session_id, 1, { from: { ...all.charlie, name: 'delta' }, by: all.bravo })),
      local,
    ]),
  ],
  'a third site without its message': [
    /tenant-c: the message of this site is missing/,
    quoting(({ quoted: [own, theirs, local] }) => [own, unproven(theirs), local]),
  ],
  'a message of a third site from another session': [
    /tenant-c: the block differs from the sender’s message in session_id/,
    quoting(async ({ quoted: [own, , local] }, all) => [
      own,
      quoteMessage(await sendToBravo(all, `ses_${'f'.repeat(32)}`, 0.95, { from: all.charlie })),
      local,
    ]),
  ],
  'a message of a third site to another site': [
    /tenant-c: the block differs from the sender’s message in the receiving site/,
    quoting(async ({ session_id, quoted: [own, , local] }, all) => [
      own,
      quoteMessage(
        await sendToBravo(all, session_id, 0.95, {
          ...{ from: all.charlie, dst: 'alpha', channel: 'filedrop/charlie/alpha' },
        }),
      ),
      local,
    ]),
  ],
  'a body that the third site did not sign': [
    /tenant-c: the proof is not the message of a contribution/,
    stating((session) => {
      const [own, theirs, local] = session.quoted
      const { proof } = theirs
      if (proof?.type !== 'message') throw new Error('no message')
      const body = proof.body.replace('0.95', '0.99')
      return buildContent(session, [
        own,
        misquote({ ...theirs, proof: { ...proof, body } }, { pair_score: 0.99 }),
        local,
      ])
    }),
  ],
  'its own person as a message': [
    /b1: a contribution of another site must carry its message/,
    quoting(({ quoted: [own, theirs, local] }) => [own, theirs, { ...local, msg_id: `msg_${'0'.repeat(32)}` }]),
  ],
  'the contributions in another order': [
    /not in canonical order/,
    stating(({ honest }) => ({ ...honest, contributions: honest.contributions.toReversed() })),
  ],
  'a digest that is not that of its contribution': [
    /a digest does not match/,
    stating(({ honest }) => ({
      ...honest,
      contributions: honest.contributions.map((each) => ({ ...each, digest: '0'.repeat(64) })),
    })),
  ],
  'a chain that does not follow': [
    /the chain does not follow/,
    stating(({ honest }) => ({ ...honest, record: { ...honest.record, chain: '0'.repeat(64) } })),
  ],
  'two contributions under one number': [
    /numbers a contribution twice/,
    stating(({ honest }) => ({
      ...honest,
      contributions: honest.contributions.map((each) => ({ ...each, ordinal: 1 })),
    })),
  ],
  'a parent that no message names': [
    /the parent blocks are not those/,
    stating(({ honest }) => ({ ...honest, parent_block_ids: ['a'.repeat(64)] })),
  ],
  ...lineageLies,
  'an attestation of another decision': [
    /the decision differs from the attested one/,
    stating(({ honest }) => ({
      ...honest,
      attestation: { id: 'att', by: 'eve', decision: 'non_match', rationale: 'so', at: honest.decided_at },
    })),
  ],
  'a release without proofs, to quote a third site': [
    /tenant-c: version 1 proves no contribution of another site/,
    stating(({ honest }) => withoutProofs(honest)),
  ],
  'a release without proofs, to misquote this site': [
    /tenant-a: the record of this site holds no such contribution/,
    stating((session) => {
      const [own, , local] = session.quoted
      const changed = [misquote(own, { pair_score: 1 }), local, quoteLocal('b2', 1, label)]
      return withoutProofs(buildContent(session, changed))
    }),
  ],
  'a block that another site signed': [
    /no valid signature of the origin/,
    async ({ honest }, { charlie }) => ({ evidence: await signBlock(charlie, honest) }),
  ],
  'a block of another session': [
    /differs from the invitation in session_id/,
    stating((session) => buildContent({ ...session, session_id: `ses_${'e'.repeat(32)}` }, session.quoted)),
  ],
  'a content that is not the signed one': [
    /does not match its id or its signature/,
    async ({ honest }, { bravo }) => ({
      evidence: { ...(await signBlock(bravo, honest)), content: { ...honest, decided_at: '2026-01-01T00:00:00.000Z' } },
    }),
  ],
  'no evidence at all': [/the evidence is not of its form/, () => ({ evidence: {} })],
}

async function readAlarmCount(): Promise<number> {
  const { world } = sites()
  const { text } = await world.call('consensus', 'GET', '/api/v2/metrics', undefined, await createReader(world))
  return Number(/^federation_invalid_result_total\{peer="bravo"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

test.each(Object.entries(lies))('%s: the copy is in conflict, until honest evidence comes', async (_, [fault, lie]) => {
  const session = await startLyingSession(sites())
  const alarms = [sites().world.loggedErrors.length, await readAlarmCount()] as const
  const message = await sites().bravo.message('result', {
    session_id: session.session_id,
    ...(await lie(session, sites())),
  })
  const carrier = await createCarrier(sites().world)
  for (const _again of [1, 2]) expect(await carrier.refusal(result, message)).toBe('result_invalid')
  await expectAlarm(sites(), session, fault)
  expect(sites().world.loggedErrors.length).toBe(alarms[0] + 1)
  expect(await readAlarmCount()).toBe(alarms[1] + 1)
  const evidence = await signBlock(sites().bravo, session.honest)
  expect(await deliverOutcome(sites(), session.session_id, { evidence })).toBe(200)
  const settled = await waitUntilDelivered(session.person, session.session_id)
  expect(settled).toMatchObject({ state: 'RATIFIED', decision: 'match', evidence_block_id: evidence.block_id })
  expect(settled.reason).toBeUndefined()
  expect(settled.invalid_results).toHaveLength(1)
})

test('a reader who sees the copy RATIFIED finds its evidence', async () => {
  const { session_id, person, honest } = await startLyingSession(sites())
  const evidence = await signBlock(sites().bravo, honest)
  expect(await deliverOutcome(sites(), session_id, { evidence })).toBe(200)
  expect(await person.ok(evidenceOf, { block_id: evidence.block_id })).toEqual(evidence)
})

test('the doctor names the peer and a session', async () => {
  const { session_id } = await startLyingSession(sites())
  expect(await deliverOutcome(sites(), session_id, { evidence: {} })).toBe('result_invalid')
  const findings = await checkResults({ folder: sites().world.folder, env: {}, now: noon })
  expect(findings).toMatchObject([
    { detail: expect.stringMatching(/^bravo sent false results of 1 session, such as ses_/) },
  ])
})

test('a second decision of a ratified session is an alarm, and changes neither state nor decision', async () => {
  const session = await startLyingSession(sites())
  const { session_id, honest, quoted } = session
  expect(await deliverOutcome(sites(), session_id, { evidence: await signBlock(sites().bravo, honest) })).toBe(200)
  const other = await signBlock(sites().bravo, buildContent(session, [quoted[2], quoted[0], quoted[1]]))
  expect(await deliverOutcome(sites(), session_id, { evidence: other })).toBe('result_invalid')
  await expectAlarm(sites(), session, /a different evidence block/, 'RATIFIED')
})

test('version 1 without contributions of third sites is followed, since this site checks its own', async () => {
  const session = await startLyingSession(sites())
  const [own, , local] = session.quoted
  const content = withoutProofs(buildContent(session, [unproven(own), local, quoteLocal('b2', 0.9, label)]))
  expect(await deliverOutcome(sites(), session.session_id, { evidence: await signBlock(sites().bravo, content) })).toBe(
    200,
  )
})

test('a person of the origin under the name of this site’s tenant counts beside its message, not in its place', async () => {
  const session = await startLyingSession(sites())
  const [own, theirs] = session.quoted
  const namesake = quoteLocal('tenant-a', 0.9, label)
  const deliver = async (...quoted: QuotedContribution[]) =>
    deliverOutcome(sites(), session.session_id, {
      evidence: await signBlock(sites().bravo, buildContent(session, quoted)),
    })
  expect(await deliver(namesake, theirs, quoteLocal('b1', 1, label))).toBe('result_invalid')
  await expectAlarm(sites(), session, /tenant-a: the message of this site is missing/)
  expect(await deliver(own, theirs, namesake)).toBe(200)
})

test('a lie in a message of a site that does not host the session changes nothing', async () => {
  const { session_id, person, honest } = await startLyingSession(sites())
  const before = await waitUntilDelivered(person, session_id)
  const sent = await sites().charlie.message('result', {
    session_id,
    evidence: await signBlock(sites().charlie, honest),
  })
  expect(await (await createCarrier(sites().world)).refusal(result, sent)).toBe('not_your_tenant')
  expect(await person.ok(get, { id: session_id })).toEqual(before)
})

/** Audit records of emissions that contradict the evidence of the session. */
async function listContradictions({ world }: LyingSites, session_id: string) {
  const { token } = await world.as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
  const path = `/api/v2/audit?target=${session_id}&action=consensus.federation.emission_contradicts`
  const { json } = await world.call('consensus', 'GET', path, undefined, { token })
  return (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
}

test.for([
  ['match', 0],
  ['non_match', 1],
] as const)('evidence of a match after an emission of a %s: followed, with %i alarms', async ([decision, alarms]) => {
  const all = sites()
  const { world, bravo } = all
  const session = await startLyingSession(all)
  const { session_id, person, honest } = session
  const emitted = { event: 'ratified', session_id, seq: 3, at: new Date(noon).toISOString(), decision, score: 0.9 }
  const lens = { lens_id: 'lens-b', lens_version: '1', attested: false }
  const message = await bravo.message('lens_emission', { ...emitted, ...lens })
  await (await createCarrier(world)).ok(emission, message)
  const outcome = { evidence: await signBlock(bravo, honest) }
  for (let times = 0; times < 2; times++) expect(await deliverOutcome(all, session_id, outcome)).toBe(200)
  expect(await person.ok(get, { id: session_id })).toMatchObject({ state: 'RATIFIED', decision: 'match' })
  const found = await listContradictions(all, session_id)
  expect(found).toHaveLength(alarms)
  const detail = {
    peer: 'bravo',
    msg_id: expect.stringMatching(/^msg_/),
    emitted: decision,
    proven: { decision: 'match' },
  }
  for (const event of found) expect(event).toMatchObject({ outcome: 'refused', detail })
})

test('an emission of the proven decision that names another block is accepted: version 1 has an id of its own', async () => {
  const all = sites()
  const session = await startLyingSession(all)
  const { session_id, honest } = session
  expect(await deliverOutcome(all, session_id, { evidence: await signBlock(all.bravo, honest) })).toBe(200)
  const emitted = {
    event: 'ratified',
    session_id,
    seq: 3,
    at: new Date(noon).toISOString(),
    decision: 'match',
    score: 0.9,
  }
  const lens = { lens_id: 'lens-b', lens_version: '1', attested: false, evidence_block_id: 'ab'.repeat(32) }
  const message = await all.bravo.message('lens_emission', { ...emitted, ...lens })
  await (await createCarrier(all.world)).ok(emission, message)
  expect(await listContradictions(all, session_id)).toEqual([])
})
