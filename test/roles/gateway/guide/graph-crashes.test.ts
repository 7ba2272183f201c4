// A process may be killed at any write: every observation is in the store and in the graphs exactly once afterwards.
import { describe, expect, test } from 'vitest'
import { storePending } from '../../../../daemon/roles/gateway/guide/observation/ingest-batch.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { batches, checkCopies, checkKills, checkRollback, ingestWithout } from './graph-suite.ts'
import { buildEvent, buildTurns, copyOf, openGuideStore, readGraphs, startGuide } from './graph-world.ts'

test('a kill at any write leaves the graphs as they are without it', async () => {
  await checkKills(openGuideStore, 37)
}, 120_000)

test('the copy in memory is that of the store, in the process that wrote it and in one that reads it', async () => {
  await checkCopies(openGuideStore())
})

test('a graph becomes that of a snapshot, whichever write a kill falls on', async () => {
  await checkRollback(openGuideStore, 9)
})

test('each outcome of a workflow is counted once, whichever process sees it', async () => {
  const store = openGuideStore()
  // A process of its own for each batch: it knows of the effect by the observations alone.
  for (const batch of batches) await storePending(startGuide(store).call, batch)
  expect(await readGraphs(store)).toEqual((await ingestWithout(openGuideStore)).graphs)
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
