// Performs the syntheses that wait in this process, some at once: each within its time limit, and none after the process is to end.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { guideSettings } from '../guide/settings.ts'
import { synthesisDroppedTotal, synthesisTotal } from '../guide/synthesis/metrics.ts'
import { synthesis_worker, synthesisPart } from '../guide/synthesis/parts.ts'
import type { WaitingSynthesis } from '../guide/synthesis/synthesis-queue.ts'
import { synthesiseTrace } from '../guide/synthesis/synthesise-trace.ts'

/** Between two looks for traces that have settled, while others are worked on. */
const look_ms = 1_000

export const synthesiseGuidance: Worker = { name: synthesis_worker, when: { every_ms: look_ms }, run }

async function run(call: Call): Promise<void> {
  const { enabled, synthesis_max_concurrent: most } = call.settings(guideSettings)
  if (!enabled) return
  const queue = call.part(synthesisPart)
  const running = new Set<Promise<void>>()
  for (;;) {
    const { nextRequest } = queue
    for (let next = takeNext(call, running.size < most); next; next = takeNext(call, running.size < most)) {
      const work = perform(call, next).finally(() => running.delete(work))
      running.add(work)
    }
    if (queue.dropped > 0) call.count(synthesisDroppedTotal, {}, queue.dropped)
    queue.dropped = 0
    if (running.size === 0) return
    await untilNews(call, [...running, nextRequest])
  }
}

function takeNext(call: Call, isFree: boolean): WaitingSynthesis | undefined {
  return isFree && !call.signal.aborted ? call.part(synthesisPart).take(call.now()) : undefined
}

async function perform(call: Call, synthesis: WaitingSynthesis): Promise<void> {
  const result = await synthesiseTrace(call, synthesis)
  call.count(synthesisTotal, { trigger: synthesis.trigger, outcome: result.outcome })
  call.part(synthesisPart).end(synthesis, result)
}

/** The wait ends with the first news, so that none is left behind. */
async function untilNews(call: Call, news: readonly Promise<void>[]): Promise<void> {
  const looked = new AbortController()
  try {
    await Promise.race([...news, call.wait(look_ms, looked.signal)])
  } finally {
    looked.abort()
  }
}
