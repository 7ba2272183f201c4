// Comparing 10,000 active artifacts of one scope holds the event loop for less than 20 ms at a time.
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { coalesceArtifacts } from '../../../daemon/roles/gateway/guide/coalescer/coalesce.ts'
import { embedLocally } from '../../../daemon/roles/gateway/guide/embedding/embed-locally.ts'
import { findSimilarArtifacts } from '../../../daemon/roles/gateway/guide/similarity/find-similar.ts'
import { openGuideStore } from '../../simulation/guide/open-guide-store.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall } from '../../support/guide/guide-call.ts'

const count = 10_000
const batch = 500
const ground = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

const opened = openGuideStore()
afterAll(() => opened.end())

/** Of this thread: on a busy machine the time of other processes would count as well. */
const cpu_ms = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
let longest_ms = 0
let resumed = 0
const pause = async () => {
  longest_ms = Math.max(longest_ms, cpu_ms() - resumed)
  await setImmediate()
  resumed = cpu_ms()
}
const call = createGuideCall({ store: opened.store, now: () => 1, random: (bytes) => 'a'.repeat(bytes * 2), pause })

/** The longest time between two pauses, and the time of all. */
async function measure(work: () => Promise<unknown>) {
  longest_ms = 0
  resumed = cpu_ms()
  const began = performance.now()
  await work()
  await pause()
  return { longest_ms, took_s: (performance.now() - began) / 1_000 }
}

let first: Awaited<ReturnType<typeof promoteArtifact>>
beforeAll(async () => {
  const proposed = await proposeArtifact(call, pairingDraft(), ground)
  if (isRefusal(proposed)) throw proposed
  first = await promoteArtifact(call, proposed.doc.id, ground)
  if (isRefusal(first)) throw first
  const { follow_up: _, pending_audit: __, ...plain } = first.value
  for (let from = 0; from < count; from += batch) {
    const writes = Array.from({ length: batch }, (___, at) => {
      const hint = `When case ${(from + at) * 7_919} of kind ${(from + at) % 97} comes, call tool ${(from + at) % 1_009} first.`
      const content = { ...plain.content, hint, embedding_vector: embedLocally(hint) }
      const id = `artifact_${(from + at).toString(16).padStart(32, '0')}`
      return { do: 'create' as const, collection: artifacts, id, value: { ...plain, content } }
    })
    await opened.store.bulk(writes as never)
  }
})

test('a search for similar ones', async () => {
  if (isRefusal(first)) throw first
  const promoted = first
  const { longest_ms: longest, took_s } = await measure(() => findSimilarArtifacts(call, promoted))
  console.info(`similar: ${took_s.toFixed(2)} s, at most ${longest.toFixed(1)} ms at a time`)
  expect(longest).toBeLessThan(20)
})

test('a run of the coalescer', async () => {
  const { longest_ms: longest, took_s } = await measure(() => coalesceArtifacts(call))
  console.info(`coalescer: ${took_s.toFixed(2)} s, at most ${longest.toFixed(1)} ms at a time`)
  expect(longest).toBeLessThan(20)
})
