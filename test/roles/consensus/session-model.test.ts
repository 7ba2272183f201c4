// The state machine of a session over real HTTP, compared with an independent model, restarts and deadlines included.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import type { ConsensusSession } from '../../../daemon/roles/consensus/session/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildSessionInput, createOperator, setUpConsensusSite, waitUntilDelivered } from './consensus-site.ts'
import { commands, everybody, expectSessionAgrees, type GeneratedPolicy, policies } from './session-commands.ts'
import { SessionModel } from './session-model.ts'

const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 40)

const world = setUpConsensusSite(() => ({ contributors: everybody }))

async function openGeneratedSession(person: CheckedClient, { hasDeadline, ...policy }: GeneratedPolicy) {
  const session = await person.ok(
    create,
    buildSessionInput({ ...policy, ...(hasDeadline ? { deadline: world().clock.in(60_000) } : {}) }),
  )
  return { id: session.id, model: new SessionModel(session.policy) }
}

test('a session is always as the decisions page describes it', async () => {
  await fc.assert(
    fc.asyncProperty(policies, commands, async (policy, steps) => {
      const person = await createOperator(world())
      const { id, model } = await openGeneratedSession(person, policy)
      await fc.asyncModelRun(() => ({ model, real: { world: world(), person, id, restarts: 0 } }), steps)
      const session = await waitUntilDelivered(person, id)
      expectSessionAgrees(session, model)
      await expectDissentsAgree(person, session, model)
      await expectEvidenceAgrees(person, session, model)
    }),
    { numRuns, seed: 20_260_302, endOnFailure: true },
  )
})

async function expectDissentsAgree(
  person: CheckedClient,
  { id, open_dissent_id }: ConsensusSession,
  model: SessionModel,
): Promise<void> {
  const { items } = await person.ok(bySession, { session_id: id })
  expect(items).toHaveLength(model.dissents)
  const stillOpen = items.filter(({ status }) => status === 'open').map((item) => item.id)
  expect(stillOpen).toEqual(model.state === 'IN_CONFLICT' ? [open_dissent_id] : [])
}

async function expectEvidenceAgrees(
  person: CheckedClient,
  session: ConsensusSession,
  model: SessionModel,
): Promise<void> {
  expect(session.evidence_block_id !== undefined).toBe(model.path.includes('RATIFIED'))
  if (session.evidence_block_id === undefined) return
  const { content } = await person.ok(evidenceOf, { block_id: session.evidence_block_id })
  expect(content.decision).toBe(model.decision)
  expect(content.record.contributions).toBe(model.contributions)
  expect(content.attestation !== undefined).toBe(model.attested)
  const proven = content.contributions.map(({ contributor_id, pair_score }) => [contributor_id, pair_score])
  expect(new Map(proven as [string, number][])).toEqual(
    new Map([...model.standing].map(([who, { score }]) => [who, score])),
  )
}
