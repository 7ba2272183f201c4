// Observations become guidance: mined from settled traces, checked against the graphs, promoted by the curator, and never while it is
// paused.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { promoteArtifact } from '../../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { type Artifact, artifacts } from '../../../../daemon/roles/gateway/guide/artifact/model.ts'
import { lineageEvents } from '../../../../daemon/roles/gateway/guide/lineage/model.ts'
import { harmfulArtifact } from '../../../support/guide/harmful-artifact.ts'
import { runAgent } from '../../../support/guide/synthetic-agent.ts'
import { seededRandom } from '../../../support/random/seeded-random.ts'
import { waitUntil } from '../../../support/site/test-site.ts'
import { admin, curator, type GuideSite, otherAdmin, startGuideSite } from '../guide-site.ts'

let guide: GuideSite
beforeAll(async () => {
  guide = await startGuideSite()
})
afterAll(() => guide.site.stop())

const random = seededRandom(7)
let traces = 0

async function observe(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => {
    traces += 1
    const trace_id = traces.toString(16).padStart(32, '0')
    const now = guide.site.clock.now() - 60_000
    return runAgent({ random, trace_id, now, guidance: [], isFaultless: false })
  })
  for (const ofTrace of events) {
    const { status } = await guide.request(admin, 'POST', 'observations', { observations: ofTrace })
    expect(status).toBe(202)
  }
}

async function learn(): Promise<void> {
  guide.site.wakeWorker('gateway', 'ingest-observations')
  guide.site.clock.advance(31_000)
  guide.site.wakeWorker('gateway', 'learn-guidance')
}

const listMined = async (status: string) => {
  const { docs } = await guide.site.store('gateway').list(artifacts, { filter: { status }, limit: 100, fresh: true })
  return docs.map(({ value }) => value)
}
const namesOf = (mined: Awaited<ReturnType<typeof listMined>>) =>
  mined.flatMap(({ type, service_name, tool_name }) =>
    type === 'FailurePattern' || type === 'ToolPairingHint' ? [`${type} ${service_name}/${tool_name}`] : [],
  )
const causes = ['FailurePattern records/export', 'ToolPairingHint ledger/commit', 'ToolPairingHint models/publish']

test('while the curator is paused, nothing is learnt', async () => {
  await guide.request(admin, 'POST', 'curator/pause', { rationale: 'a freeze' })
  await observe(200)
  await waitUntil(async () => {
    await learn()
    return (await guide.request(admin, 'POST', 'learn', {})).body.traces === 200
  })
  await learn()
  expect(await listMined('active')).toEqual([])
  expect(await listMined('proposed')).toEqual([])
})

test('the causes of failures become active guidance by the curator, with support, rates and traces', async () => {
  await guide.request(admin, 'POST', 'curator/resume', { rationale: 'the freeze is over' })
  await guide.request(admin, 'POST', 'learn', {})
  const active = await waitUntil(async () => {
    await learn()
    const found = await listMined('active')
    // The way of an intent is mined last.
    const isDone = found.some(({ type }) => type === 'IntentPattern')
    return isDone && causes.every((cause) => namesOf(found).includes(cause)) && found
  })
  expect(namesOf(active).sort()).toEqual(causes)
  const pattern = active.find(({ type }) => type === 'FailurePattern')
  expect(pattern).toMatchObject({
    ...{ actor: 'curator_auto', tenant_id: 'tenant-a', label: { level: 'TOP_SECRET' } },
    content: { tool: 'records/export', argument: 'format', value: '"xml"', error: 'unsupported format' },
  })
  expect(pattern?.trace_ids.length).toBeGreaterThan(5)
})

test('learning again changes nothing, and another tenant has none of it', async () => {
  const listVersions = async () => (await listMined('active')).map(({ version }) => version)
  const learnAgain = async () => {
    await guide.request(admin, 'POST', 'learn', {})
    await learn()
    return await listVersions()
  }
  // A run that was under way when the test before saw its causes may have found more since.
  const before = await waitUntil(async () => {
    const seen = await listVersions()
    return (await learnAgain()).length === seen.length && seen
  })
  expect(await learnAgain()).toEqual(before)
  expect((await guide.request(otherAdmin, 'GET', 'artifacts')).body.items).toEqual([])
  expect((await guide.request(otherAdmin, 'POST', 'learn', {})).body).toMatchObject({ traces: 0, changes: [] })
})

/** A trace with this artifact, at which its tool fails now. */
async function failWith(id: string, label: Artifact['label']): Promise<void> {
  traces += 1
  const trace_id = traces.toString(16).padStart(32, '0')
  const now = guide.site.clock.now()
  await guide.site.store('gateway').create(lineageEvents, `lineage-${traces}`, {
    ...{ tenant_id: 'tenant-a', label, uds: { timestamp: now, username: 'ann', visibility: 'label' } },
    ...{ create_ts: now, update_ts: now, schema_version: 1, kind: 'attached', trace_id, artifact_id: id },
    ...{ artifact_type: 'ToolPairingHint', artifact_version: 2, scope: 'l2', expires_ts: now + 1_000_000 },
  })
  const payload = { tool: 'commit', inputs: {}, error: 'the transaction was aborted' }
  const timestamp = new Date(now).toISOString()
  // Of two people, since one alone demotes nothing.
  const caller_identity = { username: traces % 2 ? 'ann' : 'bob', roles: ['analyst'] }
  const observation = { event_type: 'tool_error', trace_id, service: 'ledger', timestamp, payload, caller_identity }
  await guide.request(admin, 'POST', 'observations', { observations: [observation] })
  await learn()
}

test('an artifact whose traces fail is demoted by the evaluator, with its score, and its record says why', async () => {
  const label = (await listMined('active'))[0]?.label
  const { content, applicability } = harmfulArtifact
  const id = await guide.propose({ key: 'a harmful one', label, content, applicability })
  expect((await guide.request(admin, 'POST', `artifacts/${id}/promote`, { rationale: 'by mistake' })).status).toBe(200)
  const store = guide.site.store('gateway')
  const demoted = await waitUntil(async () => {
    await failWith(id, label)
    const found = await store.get(artifacts, id)
    return found?.value.status === 'demoted' && found.value
  })
  expect(demoted).toMatchObject({ actor: 'evaluator_auto', label: { level: 'TOP_SECRET' } })
  expect(demoted.content.evaluator_score).toBeLessThan(0.5)
  const { body } = await guide.request(admin, 'GET', `audit?artifact_id=${id}&action=demote`)
  expect(body.items[0]).toMatchObject({ actor: 'evaluator_auto', trigger: 'evaluator_score_below_threshold' })
  expect(body.items[0].rationale).toMatch(/^The score was low 2 times in a row/)
})

test('a demoted artifact is forgotten two hours later, since its tools fail most', async () => {
  const [{ id } = { id: '' }] = (await guide.request(admin, 'GET', 'artifacts?status=demoted')).body.items
  const store = guide.site.store('gateway')
  for (const expected of ['demoted 1', 'forgotten']) {
    guide.site.clock.advance(3_600_000)
    await waitUntil(async () => {
      guide.site.wakeWorker('gateway', 'learn-guidance')
      const { status, demoted_cycles } = (await store.get(artifacts, id))?.value ?? {}
      return (status === 'demoted' ? `demoted ${demoted_cycles}` : status) === expected
    })
  }
})

test('repeated failures with an artifact that the curator has promoted are held for an administrator', async () => {
  const label = (await listMined('active'))[0]?.label
  const { content, applicability } = harmfulArtifact
  const id = await guide.propose({ key: 'one of the curator', label, content, applicability })
  await promoteArtifact(guide.call, id, curator)
  const event = await waitUntil(async () => {
    await failWith(id, label)
    const { body } = await guide.request(admin, 'GET', 'artifacts?type=DriftEvent&status=proposed')
    return body.items.find((each: Artifact) => 'of_artifact_id' in each.content && each.content.of_artifact_id === id)
  })
  expect(event).toMatchObject({ content: { rule: 'repeated_failures', review: 'held' } })
})
