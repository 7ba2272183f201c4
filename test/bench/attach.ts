// Measures attached guidance: the cost of an attachment with 10,000 active artifacts, also while observations fill their queue, and a message
// to the chat without guidance, with it, and where it fails.

import * as z from 'zod'
import { artifacts } from '../../daemon/roles/gateway/guide/artifact/model.ts'
import { ArtifactIndex } from '../../daemon/roles/gateway/guide/guidance/artifact-index.ts'
import { attachableTypes, indexArtifact } from '../../daemon/roles/gateway/guide/guidance/rules.ts'
import { ann, type ChatWorld, startChatWorld } from '../roles/gateway/chat-site.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { buildArtifact } from '../support/guide/artifacts.ts'
import { waitUntil } from '../support/site/test-site.ts'

const active = 10_000
const rounds = 20_000
const messages = 200
const types = ['PromptShim', 'FailurePattern', 'SpecFragment', 'ToolPairingHint'] as const
const policy = { policy: 'SITE', levels: ['LOW', 'HIGH'] }
const caps = Object.fromEntries(attachableTypes.map((type) => [type, 5])) as never

const build = (at: number, tenant_id: string) =>
  buildArtifact(types[at % types.length] ?? 'PromptShim', { tenant_id, content: { weight: at % 97 } })

export async function bench(report: (figure: Figure) => void): Promise<void> {
  measureIndex(report)
  const worlds = await Promise.all([
    startChatWorld({ isOffline: true, profile: { guide: { enabled: false } } }),
    startChatWorld({ isOffline: true }),
    startChatWorld({ isOffline: true, profile: { guide: { attach_max_bytes: 0 } } }),
    startChatWorld({ isOffline: true, profile: { guide: { ingest_queue_maxsize: 1 } } }),
  ])
  try {
    const [, on, , failing] = worlds
    // Its process finds this one first, and fails with it each time.
    await failing.site.store('gateway').bulk([
      {
        do: 'create',
        collection: anyArtifacts,
        id: 'unreadable',
        value: { tenant_id: failing.site.tenant, status: 'active' },
      },
    ] as never)
    for (const { site } of worlds)
      for (let from = 0; from < active; from += 500)
        await site.store('gateway').bulk(
          Array.from({ length: 500 }, (_, at) => ({
            ...{ do: 'create' as const, collection: artifacts, id: `artifact-${from + at}` },
            value: build(from + at, site.tenant),
          })) as never,
        )
    await measureChat(report, worlds)
    await measureSaturated(report, on)
  } finally {
    // The one that fails has logged why.
    for (const { site, model } of worlds) await Promise.all([site.end(), model.close()])
  }
}

/** Takes what no artifact is, so that the artifacts of a process cannot be read. */
const anyArtifacts = { ...artifacts, schema: z.any() }

const timeOf = (work: () => void) => {
  const begun = performance.now()
  work()
  return performance.now() - begun
}

/** While requests fill the queue of observations faster than its worker stores them. */
async function measureSaturated(report: (figure: Figure) => void, { site }: ChatWorld): Promise<void> {
  const { index, reader } = buildIndex()
  const token = await site.token(ann)
  const counts = { dropped: 0, isDone: false }
  const flood = async (sender: number) => {
    for (let list = 0; !counts.isDone; list += 1) {
      const observations = Array.from({ length: 1_000 }, (_, at) => buildObservation(sender, list * 1_000 + at))
      const { json } = await site.call('gateway', 'POST', '/api/v1/guide/observations', { observations }, { token })
      counts.dropped += (json as { dropped: number }).dropped
      site.wakeWorker('gateway', 'ingest-observations')
    }
  }
  const floods = [1, 2].map(flood)
  await waitUntil(() => counts.dropped > 0)
  const times: number[] = []
  while (times.length < rounds) {
    for (let at = 0; at < 20; at += 1) times.push(timeOf(() => index.find(reader, () => false)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  counts.isDone = true
  await Promise.all(floods)
  times.sort((one, other) => one - other)
  report({ figure: 'queue full, dropped', value: counts.dropped, unit: '', atLeast: 1 })
  report({ figure: 'queue full, p50', value: computeMedian(times), unit: 'ms' })
  report({ figure: 'queue full, p99', value: times[Math.floor(rounds * 0.99)] ?? 0, unit: 'ms', atMost: 1 })
}

function buildObservation(sender: number, at: number) {
  const trace_id = (at * 10 + sender).toString(16).padStart(32, '0')
  const timestamp = new Date(1_772_452_800_000 + at).toISOString()
  return { event_type: 'tool_output', trace_id, service: 'gateway', timestamp, payload: { tool: `tool-${at % 7}` } }
}

/** With everything that it needs of active artifacts. */
function buildIndex() {
  const index = new ArtifactIndex({ caps, max_bytes: 16_384, policy })
  index.apply(listChanges(), 1)
  return { index, reader }
}

const listChanges = () =>
  Array.from({ length: active }, (_, at) => {
    const id = `artifact-${at}`
    return { id, artifact: indexArtifact(id, build(at, 'alpha')) }
  })

const usable = { key: 'all', tools: new Set(['maps/echo', 'maps/count']), services: new Set(['maps']) }
const viewer = { tenant_id: 'alpha', clearance: { level: 'HIGH', categories: [] } }
const reader = { scope: 'l1', usable, viewer } as const

function measureIndex(report: (figure: Figure) => void): void {
  const index = new ArtifactIndex({ caps, max_bytes: 16_384, policy })
  const changes = listChanges()
  const steps = Array.from({ length: changes.length / 100 }, (_, at) => changes.slice(at * 100, at * 100 + 100))
  const loads = steps.map((step) => timeOf(() => index.apply(step, 1)))
  report({ figure: 'load, longest step', value: Math.max(...loads), unit: 'ms', atMost: 20 })
  const first = timeOf(() => index.find(reader, () => false))
  report({ figure: 'first attachment', value: first, unit: 'ms', atMost: 20 })
  const times = Array.from({ length: rounds }, () => timeOf(() => index.find(reader, () => false))).sort(
    (a, b) => a - b,
  )
  report({ figure: 'attachment p50', value: computeMedian(times), unit: 'ms' })
  report({ figure: 'attachment p99', value: times[Math.floor(rounds * 0.99)] ?? 0, unit: 'ms', atMost: 1 })
  const change = changes.slice(0, 200).map((each) =>
    timeOf(() => {
      for (const one of index.apply([each], 2)) index.prepare(one)
      index.find(reader, () => false)
    }),
  )
  report({ figure: 'change of one artifact', value: computeMedian(change), unit: 'ms', atMost: 20 })
}

/** One message each in turn, so that they share the noise of the machine. */
async function measureChat(report: (figure: Figure) => void, worlds: readonly ChatWorld[]): Promise<void> {
  const [off, on, without, failing] = worlds
  await waitUntil(async () => {
    on?.site.clock.advance(1_000)
    return on !== undefined && (await on.say(ann, { message: 'hello' })).body.guide_guidance !== null
  })
  const times = worlds.map(() => [] as number[])
  for (let at = 0; at < messages; at += 1)
    for (const [which, world] of worlds.entries()) {
      const begun = performance.now()
      await world.say(ann, { message: 'hello' })
      times[which]?.push(performance.now() - begun)
    }
  const [ofOff = 0, ofOn = 0, ofWithout = 0, ofFailing = 0] = times.map(computeMedian)
  report({ figure: 'message, layer off', value: ofOff, unit: 'ms' })
  if (on && off) report({ figure: 'message, guidance', value: ofOn, unit: 'ms', beside: ofOff })
  if (without) report({ figure: 'message, none fits', value: ofWithout, unit: 'ms', beside: ofOff })
  const answer = await failing?.say(ann, { message: 'hello' })
  if (answer?.status !== 200 || answer.body.guide_guidance !== null) throw new Error('the guidance does not fail')
  report({ figure: 'message, guidance fails', value: ofFailing, unit: 'ms', beside: ofOff })
}
