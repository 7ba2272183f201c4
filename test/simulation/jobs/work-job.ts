// A kind of job for histories: steps that append to the document, so that it tells which claim did which step.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { type JobKind, jobKind } from '../../../daemon/kernel/job/job.ts'
import { job_indexes, jobFields } from '../../../daemon/kernel/job/job-fields.ts'
import { completeStep, endJob, newJob, waitForEvent } from '../../../daemon/kernel/job/rules.ts'
import { collection } from '../../../daemon/kernel/store/store.ts'

const storedWork = z.strictObject({
  tenant_id: z.string(),
  created_by: z.string(),
  created_at: z.string(),
  steps: z.int(),
  /** Of each step, where it is not the usual one. */
  limit_ms: z.number().optional(),
  /** Steps in the order in which they were written, with the claim of the writer. */
  done: z.array(z.strictObject({ step: z.int(), claim: z.int() })),
  ...jobFields,
})
export type StoredWork = z.infer<typeof storedWork>

export const works = collection({ name: 'work', schema: storedWork, indexes: [...job_indexes] })

/** Documents that steps write beside the job, under ids of their content. */
const effect = z.strictObject({ tenant_id: z.string(), times: z.int() })
export const effects = collection({ name: 'effect', schema: effect, indexes: [] })

/** `subject`: whose principal a job has. Its grant is the name: these histories have no `site` that seals it. */
export function buildWork(steps: number, subject: string, now_ms: number): StoredWork {
  const principal = { subject, tenant_id: 'alpha', roles: ['worker'], grant: subject }
  const created_at = new Date(now_ms).toISOString()
  return { tenant_id: 'alpha', created_by: subject, created_at, steps, done: [], ...newJob(principal, now_ms) }
}

/** What happens to a step, as the history decides. */
export type StepHooks = {
  /** Called where a step begins; the answer ends it. Resolves after the time that the step takes. */
  perform(
    id: string,
    claim: number,
    signal: AbortSignal,
  ): Promise<'done' | 'delayed' | 'broken' | 'rests' | 'stays' | Refusal>
}

export const step_limit_ms = 120_000

/** What the kind declares besides its steps. */
export type WorkRules = Partial<Pick<JobKind<StoredWork>, 'serial_by' | 'admit' | 'stepLimit_ms'>>

export function workJob({ perform }: StepHooks, rules: WorkRules = {}) {
  return jobKind<StoredWork>({
    name: 'work',
    collection: works,
    allow: 'work:do',
    limits: () => ({ at_once: 3, at_once_per_tenant: 3 }),
    stepLimit_ms: (_call, { limit_ms = step_limit_ms }) => limit_ms,
    waits: { first_ms: 1_000, longest_ms: 30_000 },
    ...rules,
    async step(call, { id, value }) {
      const { step, claims: claim } = value.job
      const answer = await perform(id, claim, call.signal)
      if (isRefusal(answer)) return answer
      if (answer === 'delayed') return refuse('unavailable', 'a part is not there')
      if (answer === 'stays') return undefined
      if (answer === 'broken') throw new Error('a defect')
      const created = await call.store(effects).create(`${id}.${step}`, { tenant_id: 'alpha', times: 1 })
      if (created !== 'exists' && created.value.times !== 1) throw new Error('an effect happened twice')
      await call.store(works).update(id, ({ value: current }) => {
        if (answer === 'rests') return { next: waitForEvent(current, call.now()), answer: undefined }
        const next = { ...current, done: [...current.done, { step, claim }] }
        const isLast = next.done.length === next.steps
        return { next: isLast ? endJob(next, 'completed', {}) : completeStep(next), answer: undefined }
      })
      return undefined
    },
    fail: (value, { failure }) => endJob(value, 'failed', {}, failure),
  })
}
