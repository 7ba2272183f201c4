// Traces with and without an artifact are counted once, by all processes together and for good; guidance of the front end counts too.
import { expect, onTestFinished, test } from 'vitest'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { GuideReplay } from '../../../daemon/offline/guide/replay-engine.ts'
import { promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { first_assessment } from '../../../daemon/roles/gateway/guide/evaluation/assess-trace.ts'
import { attachGuidance } from '../../../daemon/roles/gateway/guide/guidance/attach.ts'
import { countTrace } from '../../../daemon/roles/gateway/guide/holdout/count-trace.ts'
import { followEffects } from '../../../daemon/roles/gateway/guide/holdout/follow-effects.ts'
import { loadHoldoutKey } from '../../../daemon/roles/gateway/guide/holdout/load-key.ts'
import { artifactEffects } from '../../../daemon/roles/gateway/guide/holdout/model.ts'
import { Learner } from '../../../daemon/roles/gateway/guide/learning/learner.ts'
import { readTrace, type TraceRecord } from '../../../daemon/roles/gateway/guide/learning/trace-record.ts'
import { lineageEvents } from '../../../daemon/roles/gateway/guide/lineage/model.ts'
import type { EventType } from '../../../daemon/roles/gateway/guide/observation/model.ts'
import { stampObservation } from '../../../daemon/roles/gateway/guide/observation/rules.ts'
import { buildArtifact } from '../../support/guide/artifacts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'
import { openGuideStore } from './open-guide-store.ts'

const tenant_id = 'alpha'
const nameTrace = (at: number) => (at + 1).toString(16).padStart(32, '0')
const terms = {
  weights: { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 },
  ...{ fast_demotion: 2, isHoldOutEnabled: true, isDecided: false },
}

function readResult(at: number, isSuccess: boolean, feedback?: 'up' | 'down'): TraceRecord {
  const event = (event_type: EventType, second: number, payload: Record<string, unknown>) => ({
    ...{ trace_id: nameTrace(at), event_type, service: 'maps', payload },
    timestamp: new Date(second * 1_000).toISOString(),
    // The traces of one caller count only as far as others have some.
    caller_identity: { username: `user-${at % 8}`, roles: [] },
  })
  const result = isSuccess
    ? event('tool_output', 1, { tool: 'echo' })
    : event('tool_error', 1, { tool: 'echo', error: 'no' })
  return readTrace([result, ...(feedback ? [event('user_feedback', 2, { kind: feedback })] : [])])
}

/** Calls of as many processes over one store, each with what it has in memory. */
function openProcesses(count: number) {
  const { store, end } = openGuideStore()
  onTestFinished(end)
  let now = 1_000
  let drawn = 0
  const random = (bytes: number) => (++drawn).toString(16).padStart(bytes * 2, '0')
  return Array.from({ length: count }, () => {
    const learner = new Learner()
    const call = createGuideCall({ store, random, now: () => (now += 1) })
    return { learner, call: Object.assign(Object.create(call) as Call, { part: () => learner as never }) }
  })
}
const doc = { id: 'shim', version: 1, value: buildArtifact('PromptShim') }
const count = (call: Call, trace: TraceRecord, isAttached: boolean, mark?: string) =>
  countTrace(call, doc, { before: first_assessment, trace, isAttached, mark }, terms)

test('several processes count 60 traces at once, each twice: every trace once, and a process that starts later knows the sum', async () => {
  const processes = openProcesses(3)
  const every = Array.from({ length: 60 }, (_, at) => readResult(at, at % 3 > 0))
  await Promise.all(
    processes.map(async ({ call }, process) => {
      for (const [at, trace] of every.entries())
        if (at % 3 === process || at % 3 === (process + 1) % 3) await count(call, trace, at % 2 === 0)
    }),
  )
  const [first, , last] = processes
  const stored = await first?.call.store(artifactEffects).get('shim')
  expect(stored?.value).toMatchObject({
    attached: { successes: 20, trials: 30 },
    held_out: { successes: 20, trials: 30 },
  })
  expect(last?.learner.holdout.countEligible('shim')).toBe(0)
  if (last) await followEffects(last.call)
  expect(last?.learner.holdout.countEligible('shim')).toBe(60)
})

test('later feedback changes the outcome of its trace, also after more traces than an effect remembers', async () => {
  const [process] = openProcesses(1)
  if (!process) throw new Error('there is no process')
  const { call } = process
  const first = await count(call, readResult(0, true), true)
  expect(await count(call, readResult(0, true), true)).toBeUndefined()
  for (let at = 1; at < 300; at += 1) await count(call, readResult(at, true), true)
  const attached = async () => (await call.store(artifactEffects).get('shim')).value.attached
  expect(await attached()).toEqual({ successes: 300, trials: 300 })
  await count(call, readResult(0, true, 'down'), true, first?.counted)
  expect(await attached()).toEqual({ successes: 299, trials: 300 })
  await count(call, readResult(299, true, 'down'), true)
  expect(await attached()).toEqual({ successes: 298, trials: 300 })
})

test('all processes have one key, which later ones find', async () => {
  const processes = openProcesses(3)
  await Promise.all(processes.map(({ call }) => loadHoldoutKey(call)))
  const keys = processes.map(({ learner }) => Buffer.from(learner.holdout.key ?? []).toString('hex'))
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(keys).size).toBe(1)
})

test('an artifact that an administrator has changed begins its comparison again; the evaluator’s own change does not', async () => {
  const [process] = openProcesses(1)
  if (!process) throw new Error('there is no process')
  const { call } = process
  const countVersion = async (at: number, version: number, actor: string) => {
    const value = { ...doc.value, version, actor }
    const of = { before: first_assessment, trace: readResult(at, true), isAttached: true, mark: undefined }
    await countTrace(call, { ...doc, value }, of, terms)
    return (await call.store(artifactEffects).get('shim')).value.attached.trials
  }
  expect(await countVersion(0, 1, 'admin:pat')).toBe(1)
  expect(await countVersion(1, 2, 'evaluator_auto')).toBe(2)
  expect(await countVersion(2, 1, 'admin:pat')).toBe(3)
  expect(await countVersion(3, 3, 'admin:pat')).toBe(1)
})

const clearance = { level: 'LOW', categories: [] }
const label = { ...clearance, originator: tenant_id, policy: 'SITE', releasable_to: [tenant_id] }

/** One message of a conversation and the call of a tool for it, then the response with guidance for the front end. */
async function converse(replay: GuideReplay, at: number, conversation_id: string) {
  replay.now_ms = at * 60_000
  const trace_id = nameTrace(at)
  const caller_identity = { username: 'ann', roles: [] }
  const emitted_by = { token_subject: 'ann', token_roles: [], context: 'in_process' as const }
  const events: [EventType, Record<string, unknown>][] = [
    ['user_prompt', { prompt: 'show the map' }],
    ['tool_output', { tool: 'echo', inputs: {} }],
    ['final_response', { outcome: 'success' }],
  ]
  for (const [second, [event_type, payload]] of events.entries()) {
    const timestamp = new Date(replay.now_ms + second).toISOString()
    const fields = { tenant_id, label, event_type, trace_id, parent_trace_id: null, conversation_id, service: 'maps' }
    const whole = { ...fields, timestamp, caller_identity, emitted_by, payload }
    await replay.observe(stampObservation(whole, replay.now_ms, new Set()))
  }
  attachGuidance(replay.request(trace_id, { subject: 'ann', clearance }), { scope: 'l1' })
  replay.now_ms += 40_000
  await replay.work()
}

test('guidance with a response counts for the next trace of the conversation, whether it was seeded or learnt', async () => {
  const settings = { holdout_first_share: 0.5 }
  const replay = new GuideReplay({ tenant_id, labels: { policy: 'SITE', levels: ['LOW'] }, settings })
  onTestFinished(() => replay.close())
  const ground = { actor: 'admin:eve', trigger: 'admin_manual' } as const
  const draft = {
    tenant_id,
    label,
    type: 'PromptShim',
    content: { body: 'name the sheet' },
    rationale: 'seeded',
  } as const
  const proposed = await proposeArtifact(replay.worker(), draft, ground)
  if (!('doc' in proposed)) throw proposed
  await promoteArtifact(replay.worker(), proposed.doc.id, ground)
  await replay.work()
  for (let at = 1; at <= 30; at += 1) await converse(replay, at, at <= 14 ? 'one' : `alone ${at}`)
  const { docs } = await replay
    .worker()
    .store(lineageEvents)
    .list({ filter: { scope: 'l1' }, limit: 100 })
  const kinds = docs.map(({ value }) => value.kind)
  expect([kinds.includes('attached'), kinds.includes('held_out'), kinds.length]).toEqual([true, true, 30])
  const effect = await replay.worker().store(artifactEffects).get(proposed.doc.id)
  const { attached, held_out } = effect.value
  // The first response of the conversation counts for its second trace, and so on.
  expect(attached.trials + held_out.trials).toBe(13)
  const expected = docs.filter(({ value }) => Number.parseInt(value.trace_id, 16) < 15 && value.kind === 'held_out')
  expect(held_out.trials).toBe(expected.length)
  expect((await replay.worker().store(artifacts).get(proposed.doc.id)).value.status).toBe('active')
  expect(replay.warnings.size).toBe(0)
})
