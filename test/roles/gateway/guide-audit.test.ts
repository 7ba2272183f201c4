// Audit records of the guidance layer, proposals, and the pause of the curator.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoteArtifact, promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { endDemotedCycle, persistScore } from '../../../daemon/roles/gateway/guide/artifact/persist-score.ts'
import { guideAudits } from '../../../daemon/roles/gateway/guide/audit/model.ts'
import { proposalId } from '../../../daemon/roles/gateway/guide/proposal/model.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { admin, curator, type GuideSite, otherAdmin, startGuideSite } from './guide-site.ts'

let stage: GuideSite
beforeAll(async () => {
  stage = await startGuideSite()
})
afterAll(async () => {
  await stage.site.end()
  expect(stage.site.loggedErrors).toEqual([])
})

const get = async (at: string, who = admin) => (await stage.request(who, 'GET', at)).body
const post = (at: string, body: object = {}, who = admin) => stage.request(who, 'POST', at, body)
const terms = { l3_error: 0.9, l3_schema_mismatch: 0, user_feedback: 0.1, evaluator_confidence: 0.2 }

test('records are found by each of their fields', async () => {
  const id = await stage.propose()
  await promoteArtifact(stage.call, id, curator)
  stage.site.clock.advance(60_000)
  const ground = { actor: 'evaluator_auto', trigger: 'evaluator_score_below_threshold' } as const
  const evidence_ref = { observations: ['o1', 'o2'], related_audit_ids: [`${id}.2`] }
  await demoteArtifact(stage.call, id, { ...ground, evaluator_score: 0.2, score_decomposition: terms, evidence_ref })
  const since = new Date(stage.site.clock.now() - 1_000).toISOString()
  const found = async (query: string) =>
    (await get(`audit?artifact_id=${id}&${query}`)).items.map(({ action }: { action: string }) => action)
  expect(await found('limit=2')).toEqual(['demote', 'promote'])
  expect(await found(`since=${since}`)).toEqual(['demote'])
  expect(await found(`until=${since}`)).toEqual(['promote', 'compact'])
  expect(await found('actor=evaluator_auto')).toEqual(['demote'])
  expect(await found('action=compact&artifact_type=ToolPairingHint')).toEqual(['compact'])
  expect(await found('artifact_type=PromptShim')).toEqual([])
  expect(await found('trigger=evaluator_score_below_threshold')).toEqual(['demote'])
  expect([await found('min_l3_error=0.9'), await found('min_l3_error=0.95')]).toEqual([['demote'], []])
  const [record] = (await get(`audit?artifact_id=${id}&action=demote`)).items
  expect(record).toMatchObject({ evaluator_score: 0.2, score_decomposition: terms, evidence_ref, schema_version: 1 })
  expect(record.rationale).toContain('its score stayed below the threshold of the evaluator, with a score of 0.2')
  expect(Date.parse(record.expires_at) - Date.parse(record.at)).toBe(90 * 86_400_000)
})

test('records end with their retention, but those of critical actions', async () => {
  const id = await stage.propose()
  await stage.request(admin, 'DELETE', `artifacts/${id}`)
  const store = stage.site.store('gateway')
  await store.expire(guideAudits, stage.site.clock.now() + 91 * 86_400_000)
  const left = (await get(`audit?artifact_id=${id}`)).items
  expect(left.map(({ action }: { action: string }) => action)).toEqual(['forget'])
  expect((await store.get(guideAudits, `${id}.2`))?.value).not.toHaveProperty('expires_ts')
})

test('decisions are listed and explained', async () => {
  const trace_id = 'a'.repeat(32)
  const id = await stage.propose({ trace_ids: [trace_id] })
  await post(`artifacts/${id}/promote`, { rationale: 'It helps' })
  expect((await get(`decisions?artifact_id=${id}&trigger=admin_manual`)).items).toMatchObject([
    { rationale: 'It helps' },
  ])
  for (const query of [`artifact_id=${id}`, `trace_id=${trace_id}`, `audit_id=${id}.2`]) {
    const { explanation } = await get(`decisions/explanation?${query}`)
    expect(explanation).toContain(`It helps Version ${id}.1 became ${id}.2.`)
  }
  expect((await stage.request(admin, 'GET', 'decisions/explanation')).status).toBe(422)
  expect((await stage.request(otherAdmin, 'GET', `decisions/explanation?audit_id=${id}.2`)).status).toBe(404)
})

test('a proposal is accepted or dismissed with its artifact, once', async () => {
  const [kept, dropped] = [await stage.propose({ confidence: 7 }), await stage.propose({ confidence: 'sure' })]
  const open = (await get('proposals?status=open')).items
  const confidenceOf = (id: string) => open.find((each: { artifact_id: string }) => each.artifact_id === id)?.confidence
  expect([confidenceOf(kept), confidenceOf(dropped)]).toEqual([1, 0.5])
  expect((await post(`proposals/${proposalId(kept)}/accept`, {}, otherAdmin)).status).toBe(403)
  expect((await post(`proposals/${proposalId(kept)}/accept`)).body).toMatchObject({ status: 'accepted' })
  expect((await post(`proposals/${proposalId(dropped)}/dismiss`)).body).toMatchObject({ status: 'dismissed' })
  expect((await get(`artifacts/${kept}`)).status).toBe('active')
  expect((await get(`artifacts/${dropped}`)).status).toBe('forgotten')
  expect((await post(`proposals/${proposalId(dropped)}/accept`)).status).toBe(409)
  const settled = (await get('proposals?status=accepted')).items
  const accepted = settled.filter(({ artifact_id }: { artifact_id: string }) => artifact_id === kept)
  expect(accepted).toMatchObject([{ settled_by: 'admin:ada' }])
})

test('an accepted proposal supersedes what it lists', async () => {
  const old = await stage.propose()
  await post(`artifacts/${old}/promote`)
  const id = await stage.propose({ supersedes: [old] })
  await post(`proposals/${proposalId(id)}/accept`)
  await waitUntil(async () => (await get(`artifacts/${old}`)).status === 'demoted')
})

test('a proposal that drifts is held for an administrator', async () => {
  const id = await stage.propose({ isHeld: true })
  expect((await get('proposals?status=held')).items).toMatchObject([{ artifact_id: id }])
  expect(await promoteArtifact(stage.call, id, curator)).toMatchObject({ code: 'wrong_state' })
  expect((await get(`audit?artifact_id=${id}`)).items).toMatchObject([{ action: 'drift_hold' }])
  expect((await post(`proposals/${proposalId(id)}/accept`)).status).toBe(200)
})

test('a paused curator changes nothing, and administrators still do', async () => {
  const id = await stage.propose()
  await promoteArtifact(stage.call, id, curator)
  const paused = await post('curator/pause', { rationale: 'an exercise' })
  expect(paused.body).toMatchObject({ paused: true, changed_by: 'admin:ada', rationale: 'an exercise' })
  const score = { evaluator_score: 0.1, score_decomposition: terms, low_scores: 1 }
  expect(await demoteArtifact(stage.call, id, curator)).toMatchObject({ code: 'wrong_state' })
  expect(await persistScore(stage.call, id, score)).toBe('paused')
  await expect(stage.propose()).rejects.toMatchObject({ code: 'wrong_state' })
  await stage.propose({ tenant_id: 'tenant-b' })
  expect((await get(`artifacts/${id}`)).version).toBe(2)
  expect((await stage.request(admin, 'PATCH', `artifacts/${id}`, { notes: 'by hand' })).body.version).toBe(3)
  expect((await get('curator', otherAdmin)).paused).toBe(false)
  await post('curator/pause')
  expect((await post('curator/resume')).body).toMatchObject({ paused: false })
  expect(await persistScore(stage.call, id, score)).toBe('stored')
  expect(await persistScore(stage.call, id, score)).toBe('unchanged')
  const records = (await get('audit?limit=500')).items.filter(({ action }: { action: string }) =>
    /curator/.test(action),
  )
  expect(records).toMatchObject([
    { action: 'resume_curator', indefinite: true, expires_at: null },
    { action: 'pause_curator', rationale: 'an exercise' },
  ])
})

test('a demoted artifact is forgotten after five evaluations, or two where tools fail most', async () => {
  const weights = { l3_error: 3, schema_mismatch: 3, user_feedback: 1.5, confidence: 0.5 }
  const ground = { actor: 'evaluator_auto', trigger: 'evaluator_score_below_threshold' } as const
  const cyclesOf = async (l3_error: number) => {
    const id = await stage.propose()
    await promoteArtifact(stage.call, id, curator)
    const score_decomposition = { ...terms, l3_error, user_feedback: 1 }
    await persistScore(stage.call, id, { evaluator_score: 0.1, score_decomposition, low_scores: 5 })
    await demoteArtifact(stage.call, id, ground)
    for (let cycle = 1; ; cycle += 1) {
      await endDemotedCycle(stage.call, id, { weights, fast_cycles: 2 }, ground)
      if ((await stage.site.store('gateway').get(artifacts, id))?.value.status === 'forgotten') return cycle
    }
  }
  expect([await cyclesOf(0), await cyclesOf(1)]).toEqual([5, 2])
})
