// Measures attached guidance: the cost of an attachment with 10,000 active artifacts, and a message to the chat with and without guidance.

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
  ])
  try {
    for (const { site } of worlds)
      for (let from = 0; from < active; from += 500)
        await site.store('gateway').bulk(
          Array.from({ length: 500 }, (_, at) => ({
            ...{ do: 'create' as const, collection: artifacts, id: `artifact-${from + at}` },
            value: build(from + at, site.tenant),
          })) as never,
        )
    await measureChat(report, worlds)
  } finally {
    for (const world of worlds) await world.end()
  }
}

function measureIndex(report: (figure: Figure) => void): void {
  const index = new ArtifactIndex({ caps, max_bytes: 16_384, policy })
  const changes = Array.from({ length: active }, (_, at) => {
    const id = `artifact-${at}`
    return { id, artifact: indexArtifact(id, build(at, 'alpha')) }
  })
  const time = (work: () => void) => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  }
  const steps = Array.from({ length: changes.length / 100 }, (_, at) => changes.slice(at * 100, at * 100 + 100))
  const loads = steps.map((step) => time(() => index.apply(step, 1)))
  report({ figure: 'load, longest step', value: Math.max(...loads), unit: 'ms', atMost: 20 })
  const usable = { key: 'all', tools: new Set(['maps/echo', 'maps/count']), services: new Set(['maps']) }
  const viewer = { tenant_id: 'alpha', clearance: { level: 'HIGH', categories: [] } }
  const reader = { scope: 'l1', usable, viewer }
  const first = time(() => index.find(reader, () => false))
  report({ figure: 'first attachment', value: first, unit: 'ms', atMost: 20 })
  const times = Array.from({ length: rounds }, () => time(() => index.find(reader, () => false))).sort((a, b) => a - b)
  report({ figure: 'attachment p50', value: computeMedian(times), unit: 'ms' })
  report({ figure: 'attachment p99', value: times[Math.floor(rounds * 0.99)] ?? 0, unit: 'ms', atMost: 1 })
  const change = changes.slice(0, 200).map((each) =>
    time(() => {
      for (const one of index.apply([each], 2)) index.prepare(one)
      index.find(reader, () => false)
    }),
  )
  report({ figure: 'change of one artifact', value: computeMedian(change), unit: 'ms', atMost: 20 })
}

/** One message each in turn, so that they share the noise of the machine. */
async function measureChat(report: (figure: Figure) => void, worlds: readonly ChatWorld[]): Promise<void> {
  const [off, on, without] = worlds
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
  const [ofOff = 0, ofOn = 0, ofWithout = 0] = times.map(computeMedian)
  report({ figure: 'message, layer off', value: ofOff, unit: 'ms' })
  if (on && off) report({ figure: 'message, guidance', value: ofOn, unit: 'ms', beside: ofOff })
  if (without) report({ figure: 'message, none fits', value: ofWithout, unit: 'ms', beside: ofOff })
}
