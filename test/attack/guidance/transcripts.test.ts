// Two hundred adversarial transcripts on one running site: none changes authentication, guardrails, audit records, tokens, tools or the
// data of another user, and none reaches the callers of another tenant or label, or changes what others are attached.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAuditChains } from '../../../daemon/offline/audit/audit-chains.ts'
import { sayText } from '../../support/chat/model-double.ts'
import { type AttackedGuidance, labelOf, people, startAttackedGuidance } from './attacked-guidance.ts'
import {
  compareStates,
  countAdminRecords,
  findExcess,
  type GuardedState,
  listPlanted,
  type PlantedDocuments,
  readGuarded,
  scopeOf,
  showAttached,
} from './guarded-state.ts'
import { settleGuidance } from './settle-guidance.ts'
import { readTranscripts, type Transcript } from './transcript.ts'

/** Each is a file of transcripts. */
const entries = ['observations', 'artifacts', 'admin-chat', 'seeds', 'imported-sets'] as const
const all = entries.map((entry) => [entry, readTranscripts(entry)] as const)

let world: AttackedGuidance
let planted: PlantedDocuments
let before: { readonly key: string; readonly state: GuardedState } | undefined
let attached: readonly string[]
beforeAll(async () => {
  world = await startAttackedGuidance()
  attached = await readAttached()
  await settleGuidance(world.site)
  planted = await listPlanted(world)
  world.site.clock.advance(1_000)
})
afterAll(async () => {
  await world.site.stop()
  const verdicts = await verifyAuditChains(world.site.folder, {}, () => undefined)
  await world.end()
  expect(verdicts.flatMap(({ faults }) => faults)).toEqual([])
  expect(verdicts.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(0)
})

test('there are at least 200, and no two have the same title', () => {
  const titles = all.flatMap(([, transcripts]) => transcripts.map(({ title }) => title))
  expect(titles.length).toBeGreaterThanOrEqual(200)
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
})

/** Tenant and label of those who send: their own memories and graphs may change. */
function listScopes({ steps }: Transcript): Set<string> {
  return new Set(
    steps.map(({ by }) => {
      const { tenant = 'tenant-a', clearance } = people[by]
      return scopeOf({ tenant_id: tenant, label: labelOf(clearance?.level ?? '', tenant) })
    }),
  )
}

/** The state that the transcript before this one has left, where its attackers were of the same tenants and labels. */
async function readBefore(scopes: ReadonlySet<string>): Promise<GuardedState> {
  const key = [...scopes].sort().join()
  if (before?.key !== key) before = { key, state: await readGuarded(world, planted, scopes) }
  return before.state
}

describe.each(all)('through %s', (_, transcripts) => {
  test.each(transcripts.map((each) => [`${each.class}: ${each.title}`, each] as const))(
    '%s',
    async (name, transcript) => {
      const scopes = listScopes(transcript)
      const state = await readBefore(scopes)
      const records = await countAdminRecords(world)
      const faults: string[] = []
      for (const step of transcript.steps) faults.push(...(await world.perform(step, name)))
      await settleGuidance(world.site)
      const after = await readGuarded(world, planted, scopes)
      before = { key: before?.key ?? '', state: after }
      faults.push(...compareStates(state, after), ...(await findExcess(world)))
      if ((await countAdminRecords(world)) !== records)
        faults.push('a change was recorded in the name of an administrator')
      expect([...faults, ...world.site.loggedErrors]).toEqual([])
    },
  )
})

/** With the responses of the chat to victims. */
async function readAttached(): Promise<string[]> {
  world.model.answerBy(sayText('hello'))
  const shown: string[] = []
  for (const who of ['ann', 'bob', 'bea'] as const) {
    const { body } = await world.request(people[who], 'POST /api/v1/chat', { message: 'hello' })
    shown.push(showAttached(body.guide_guidance))
  }
  return shown
}

test('after all of them callers are attached what they were before, and nobody has other rights', async () => {
  expect(await readAttached()).toEqual(attached)
  const statuses: number[] = []
  for (const who of ['mallory', 'mole', 'eve', 'oscar', 'svc', 'ada'] as const)
    statuses.push((await world.request(people[who], 'GET /api/v1/guide/artifacts')).status)
  expect(statuses).toEqual([403, 403, 403, 403, 403, 200])
})
