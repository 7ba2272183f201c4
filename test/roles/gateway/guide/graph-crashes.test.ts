// A process may be killed at any write: every observation is in the store and in the graphs exactly once afterwards.
import { describe, expect, test } from 'vitest'
import type { Store } from '../../../../daemon/kernel/store/store.ts'
import { storePending } from '../../../../daemon/roles/gateway/guide/observation/ingest-batch.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import {
  buildEvent,
  buildTurns,
  copyOf,
  KilledProcess,
  killAt,
  openGuideStore,
  readGraphs,
  startGuide,
} from './graph-world.ts'

/** An effect that is made in one batch, and whose outcomes are seen in later ones. */
const ofEffect = (at: number, tool: string, inputs: object, outputs: object) =>
  buildEvent(at, 'tool_output', { tool, inputs, outputs }, { trace: 1, service: 'pipeline-service' })
const operators = (...names: string[]) => names.map((name) => ({ name, params: {} }))
const run = (dag_run_id: string, state: string) => ({ dag_run_id, state, dag_id: 'effect__e' })
const begin = ofEffect(1_500, 'effect_create', { operators: operators('ingest_file', 'write') }, { uid: 'e' })
const ended = (at: number, last_run: object) =>
  ofEffect(at, 'effect_status', { uid: 'e' }, { status: 'active', last_run })
const change = ofEffect(7_700, 'effect_update', { uid: 'e', operators: operators('ingest_http') }, { uid: 'e' })
const batches = [
  [...buildTurns(3), begin],
  [...buildTurns(3, 4), ended(4_500, run('r1', 'success')), ended(4_600, run('r1', 'success'))],
  [...buildTurns(4, 7), ended(7_500, run('r2', 'failed')), change, ended(8_500, run('r3', 'success'))],
]

async function ingestAll(store: Store) {
  const { call } = startGuide(store)
  for (const batch of batches) await storePending(call, batch)
}

/** Kills the process at a write; the next process is sent everything again, as an emitter does that has no answer. */
async function ingestWithKill(at: number, isWritten: boolean) {
  const store = openGuideStore()
  const killed = killAt(store, at, isWritten)
  await expect(ingestAll(killed.store)).rejects.toThrow(KilledProcess)
  await ingestAll(store)
  return store
}

async function reference() {
  const store = openGuideStore()
  const counted = killAt(store, Number.POSITIVE_INFINITY, false)
  await ingestAll(counted.store)
  return { graphs: await readGraphs(store), stored: await store.count(observations), writes: counted.writes() }
}

test('a kill at any write leaves the graphs as they are without it', async () => {
  const { graphs, stored, writes } = await reference()
  expect([stored, Object.keys(graphs).length > 60, writes > 180]).toEqual([46, true, true])
  for (let at = 1; at <= writes; at += 37)
    for (const isWritten of [false, true]) {
      const store = await ingestWithKill(at, isWritten)
      expect(await store.count(observations), `write ${at}`).toBe(stored)
      expect(await readGraphs(store), `write ${at}`).toEqual(graphs)
    }
}, 120_000)

test('the copy in memory is that of the store, in the process that wrote it and in one that reads it', async () => {
  const store = openGuideStore()
  const first = startGuide(store)
  for (const batch of batches) await storePending(first.call, batch)
  const second = startGuide(store)
  await second.book.catchUp(second.call, 3)
  const stored = await readGraphs(store)
  expect(copyOf(first.book)).toEqual(stored)
  expect(copyOf(second.book)).toEqual(stored)
})

test('each outcome of a workflow is counted once, whichever process sees it', async () => {
  const store = openGuideStore()
  // A process of its own for each batch: it knows of the effect by the observations alone.
  for (const batch of batches) await storePending(startGuide(store).call, batch)
  expect(await readGraphs(store)).toEqual((await reference()).graphs)
  const nodes = Object.values(await readGraphs(store)) as { node_label?: string; outcome_distribution?: object }[]
  const outcomesOf = (label: string) => nodes.find(({ node_label }) => node_label === label)?.outcome_distribution
  expect(outcomesOf('pipeline-service/workflow:ingest_file>write')).toEqual({
    ...{ success: 1, error: 1, feedback_up: 1, feedback_down: 1 },
  })
  expect(outcomesOf('pipeline-service/workflow:ingest_http')).toEqual({ success: 1, feedback_up: 1 })
  expect(outcomesOf('pipeline-service/effect:find_ship#2')).toEqual({ success: 1, feedback_up: 1 })
  expect(outcomesOf('pipeline-service/operator:ingest_http')).toEqual({ success: 1, feedback_up: 1 })
})

describe('two processes over one store', () => {
  test('store every observation once, and agree on the graphs', async () => {
    const store = openGuideStore()
    const [one, two] = [startGuide(store), startGuide(store)]
    const turns = Array.from({ length: 12 }, (_, at) => buildTurns(1, at + 1))
    await Promise.all([
      (async () => {
        for (const turn of turns.slice(0, 6)) await storePending(one.call, turn)
      })(),
      (async () => {
        for (const turn of turns.slice(6)) await storePending(two.call, turn)
      })(),
    ])
    expect(await store.count(observations)).toBe(48)
    const stored = await readGraphs(store)
    const kinds = Object.values(stored) as { kind?: string; node_label?: string; occurrences?: number }[]
    const ofTools = kinds.filter(({ kind }) => kind === 'tool').map((each) => [each.node_label, each.occurrences])
    expect(ofTools.sort()).toEqual([
      ['maps/t0', 4],
      ['maps/t1', 4],
      ['maps/t2', 4],
    ])
    await storePending(one.call, [buildEvent(99_000, 'user_prompt', { prompt: 'stop' }, { trace: 99 })])
    expect(copyOf(one.book)).toEqual(await readGraphs(store))
  })
})

test('a repeat within the window is one observation, and one after it is another', async () => {
  const store = openGuideStore()
  let now = Date.parse('2026-03-02T12:09:00Z')
  const { call, observer } = startGuide(store, { now: () => now })
  const repeat = () => storePending(call, [buildEvent(0, 'tool_output', { tool: 't' }, { service: 'maps', now })])
  await repeat()
  for (const minutes of [1, 8]) {
    now += minutes * 60_000
    await repeat()
  }
  expect([await store.count(observations), observer.stored.repeats]).toEqual([1, 2])
  now += 60_001
  await repeat()
  expect(await store.count(observations)).toBe(2)
})
