// Comparing thousands of active artifacts of one scope lets other work go on after a bounded number of documents and comparisons.
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

const count = 2_000
/** Of the documents that both parse at once. */
const page_size = 20
const batch = 500
const ground = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

const opened = openGuideStore()
afterAll(() => opened.end())

/** Work since the last pause, and the most that there was between two of them. */
const work = { documents: 0, steps: 0 }
const most = { ...work }
const pause = async () => {
  most.documents = Math.max(most.documents, work.documents)
  most.steps = Math.max(most.steps, work.steps)
  Object.assign(work, { documents: 0, steps: 0 })
}
/** Counts the documents that are read, each of which is parsed. */
const store = new Proxy(opened.store, {
  get(of, name) {
    const method = Reflect.get(of, name) as unknown
    if (typeof method !== 'function') return method
    return async (...args: unknown[]) => {
      const answer = (await Reflect.apply(method, of, args)) as { docs?: readonly unknown[] } | undefined
      work.documents += name === 'list' ? (answer?.docs?.length ?? 0) : name === 'get' ? 1 : 0
      return answer
    }
  },
})
/** A millisecond for each look at the time: slices of five milliseconds then have five steps. */
let ticks = 0
const monotonic = () => {
  work.steps += 1
  ticks += 1
  return ticks
}
const call = createGuideCall({ store, now: () => 1, random: (bytes) => 'a'.repeat(bytes * 2), pause, monotonic })

async function countWork(of: () => Promise<unknown>) {
  Object.assign(work, { documents: 0, steps: 0 })
  Object.assign(most, { documents: 0, steps: 0 })
  await of()
  await pause()
  return { ...most }
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
  expect((await countWork(() => findSimilarArtifacts(call, promoted))).documents).toBeLessThanOrEqual(2 * page_size)
})

test('a run of the coalescer', async () => {
  const { documents, steps } = await countWork(() => coalesceArtifacts(call))
  expect(documents).toBeLessThanOrEqual(2 * page_size)
  // A step is at most as many comparisons as the test of the groups says.
  expect(steps).toBeGreaterThan(2)
  expect(steps).toBeLessThanOrEqual(8)
})
