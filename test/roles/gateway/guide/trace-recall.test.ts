// What a trace did before is read from the store, unless the trace has begun in this process and nobody else can have stored of it.
import { expect, test } from 'vitest'
import type { Call } from '../../../../daemon/kernel/operation/call.ts'
import type { Store } from '../../../../daemon/kernel/store/store.ts'
import { childTrace, newTrace } from '../../../../daemon/kernel/telemetry/trace.ts'
import { graphNodes } from '../../../../daemon/roles/gateway/guide/graph/model.ts'
import { ingestBatch, storePending } from '../../../../daemon/roles/gateway/guide/observation/ingest-batch.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { observe } from '../../../../daemon/roles/gateway/guide/observation/observe.ts'
import type { PendingObservation } from '../../../../daemon/roles/gateway/guide/observation/rules.ts'
import { noon } from '../../../support/clock/simulated-clock.ts'
import { buildEvent, buildTurns, KilledProcess, killAt, openGuideStore, readGraphs, startGuide } from './graph-world.ts'

const prompt = (trace = 1) => buildEvent(0, 'user_prompt', { prompt: 'list the ships' }, { trace, now: noon + 20 })
const tool = (trace = 1) => buildEvent(5, 'tool_output', { tool: 't' }, { trace, service: 'maps', now: noon + 30 })

/** Ingests one event whose trace began at the time, as the gateway observes it. */
const ingest = ({ call }: { call: Call }, observation: PendingObservation, begun_ts?: number) =>
  ingestBatch(call, [
    {
      entry: { kind: 'observation', observation, ...(begun_ts === undefined ? {} : { begun_ts }) },
      ...{ service: 'maps', bytes: 1, now: noon },
    },
  ])

/** Intents of calls of tools, each with the number of calls that went well. */
async function intentsOf(store: Store): Promise<string[]> {
  const { docs } = await store.list(graphNodes, { filter: { kind: 'intent' }, limit: 100, fresh: true })
  const ofTools = docs.filter(({ value }) => value.graph_id === 'service_routing_graph')
  return ofTools.map(({ value }) => `${value.node_label} ${value.outcome_distribution.success ?? 0}`).sort()
}

/** A store that counts the reads of observations. */
function countReads(store: Store) {
  const counted = { reads: 0 }
  const counting = new Proxy(store, {
    get(of, name) {
      const method = Reflect.get(of, name) as unknown
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        if (name === 'list' && args[0] === observations) counted.reads += 1
        return Reflect.apply(method, of, args)
      }
    },
  })
  return { store: counting, counted }
}

test('a trace that began after the process had read the store is not looked for, and each other one is', async () => {
  const { store, counted } = countReads(openGuideStore())
  const gateway = startGuide(store)
  await ingest(gateway, tool(1), noon + 10)
  // The process read the graphs at noon.
  expect(counted.reads).toBe(0)
  await ingest(gateway, tool(2), noon)
  await ingest(gateway, tool(3))
  expect(counted.reads).toBe(2)
  // What was ingested is remembered.
  await ingest(gateway, prompt(2))
  expect(counted.reads).toBe(2)
})

test('after a restart, earlier events of a trace are read', async () => {
  const store = openGuideStore()
  await storePending(startGuide(store).call, [prompt()])
  await ingest(startGuide(store, { now: () => noon + 25 }), tool(), noon + 10)
  expect(await intentsOf(store)).toEqual(['gateway/find_ship 1'])
})

test('what another gateway has stored of a trace that began here is read', async () => {
  const store = openGuideStore()
  let now = noon
  const [one, two] = [startGuide(store, { now: () => now }), startGuide(store)]
  await ingest(one, tool(9))
  await ingest(two, prompt())
  now = noon + 30
  await ingest(one, tool(), noon + 10)
  expect(await intentsOf(store)).toEqual(['gateway/find_ship 1', 'gateway/unclassified 1'])
})

test('what another gateway has left behind is finished, and what it says of a remembered trace is followed', async () => {
  const store = openGuideStore()
  const one = startGuide(store)
  await ingest(one, buildEvent(0, 'tool_output', { tool: 't' }, { service: 'maps', now: noon + 1 }), noon + 1)
  // The second write of a batch is that of its first observation: the head is open.
  const killed = startGuide(killAt(store, 2, false).store, { settings: { ingest_worker_retry_attempts: 0 } })
  await expect(storePending(killed.call, [prompt()])).rejects.toThrow(KilledProcess)
  await ingest(one, tool())
  expect(await store.count(observations)).toBe(3)
  expect(await intentsOf(store)).toEqual(['gateway/find_ship 1', 'gateway/unclassified 1'])
})

test('events out of order leave the same graphs, whether one process has them all or a new one each batch', async () => {
  const turns = buildTurns(8)
  const shuffled = turns.map((_, at) => turns[(at * 7) % turns.length] as PendingObservation)
  const [whole, restarted] = [openGuideStore(), openGuideStore()]
  const one = startGuide(whole)
  for (let at = 0; at < shuffled.length; at += 3) {
    await storePending(one.call, shuffled.slice(at, at + 3))
    await storePending(startGuide(restarted).call, shuffled.slice(at, at + 3))
  }
  expect(await readGraphs(restarted)).toEqual(await readGraphs(whole))
})

test('a trace begins here with the first event of a request without a trace of its caller', () => {
  const { call: worker, observer } = startGuide(openGuideStore(), { now: () => noon + 1_000 })
  const [own, passed] = [newTrace(() => 'a'.repeat(32)), newTrace(() => 'b'.repeat(32))]
  const say = (trace: Call['trace'], event: object = {}) => {
    const caller = { ...worker.caller, tenant_id: 'alpha', subject: 'ann' }
    const call = { ...worker, caller, trace } as Call
    observe(call, { event_type: 'tool_output', service: 'maps', payload: {}, latency_ms: 40, ...event })
  }
  say(own)
  say(own)
  say(childTrace(passed, () => 'c'.repeat(16)))
  say(passed, { trace_id: 'd'.repeat(32) })
  const begun = observer.queue.take(9).map(({ entry }) => entry.kind === 'observation' && entry.begun_ts)
  expect(begun).toEqual([noon + 959, undefined, undefined, undefined])
})
