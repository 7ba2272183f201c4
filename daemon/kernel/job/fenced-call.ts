// The call of a step, whose store refuses writes of a process that has lost the job.
import type { Call } from '../operation/call.ts'
import type { ScopedStore } from '../store/scoped-store.ts'
import type { Collection, Doc, StoredFields, UpdateStep } from '../store/store.ts'
import type { JobFields } from './job-fields.ts'
import { isClaimValid, type JobClaim } from './rules.ts'

/** The job and the claim under which a step writes. `signal`: the end of the call; `onLost` aborts it. */
export type JobFence = {
  readonly collection: Pick<Collection, 'name'>
  readonly id: string
  readonly claim: JobClaim
  readonly signal: AbortSignal
  readonly onLost: () => void
}

/** Ends the work of a process that lost its job: another holds it, or it has ended. */
export class JobLostError extends Error {}

/**
 * The same call with fenced stores: a change of the job itself requires the newest claim, in the same compare-and-swap, so
 * that a former holder changes nothing however late it wakes. Once the loss is known, the call has ended, and its stores
 * refuse every other write.
 */
export function fenceCall(call: Call, fence: JobFence): Call {
  const fenced: Call = Object.create(call)
  return Object.assign(fenced, {
    signal: fence.signal,
    store: <T extends StoredFields>(collection: Collection<T>) => fenceStore(call.store(collection), collection, fence),
  })
}

function fenceStore<T extends StoredFields>(
  store: ScopedStore<T>,
  collection: Collection<T>,
  fence: JobFence,
): ScopedStore<T> {
  const isJob = (id: string) => collection.name === fence.collection.name && id === fence.id
  /** Only `update` compares the claim with the write. */
  const guardOther = (id: string) => {
    if (isJob(id)) throw new TypeError(`a step changes its own job ${id} by update alone`)
  }
  return {
    ...store,
    async create(id, value, audit) {
      guardOther(id)
      return await store.create(id, value, audit)
    },
    async update(id, rule) {
      if (!isJob(id)) return await store.update(id, rule)
      const { doc, answer } = await store.update(id, (current) => guardStep(current, rule, fence.claim))
      if ('lost' in answer) throw loseJob(fence)
      return { doc, answer: answer.given }
    },
    async remove(id, audit) {
      guardOther(id)
      await store.remove(id, audit)
    },
    async bulk(writes) {
      for (const { id } of writes) guardOther(id)
      return await store.bulk(writes)
    },
  }
}

function guardStep<T extends StoredFields, R>(
  current: Doc<T>,
  rule: (current: Doc<T>) => UpdateStep<T, R>,
  claim: JobClaim,
): UpdateStep<T, { readonly given: R } | { readonly lost: true }> {
  if (!isClaimValid(current.value as T & JobFields, claim)) return { answer: { lost: true } }
  const { answer, ...step } = rule(current)
  return { ...step, answer: { given: answer } }
}

function loseJob(fence: JobFence): JobLostError {
  fence.onLost()
  return new JobLostError(`the job ${fence.id} has ended or has another holder`)
}
