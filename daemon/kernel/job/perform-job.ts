// Performs the steps of one job under a lease: claims it, acts for its principal, and settles what a step leaves.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import type { Label } from '../label/label.ts'
import type { Call } from '../operation/call.ts'
import type { Doc } from '../store/store.ts'
import { newTrace } from '../telemetry/trace.ts'
import { fenceCall, type JobFence, JobLostError } from './fenced-call.ts'
import { lease_ms, releaseLease, watchLease } from './hold-lease.ts'
import { type AnyJobKind, announceJob, type JobDocument, leaseKeyOf } from './job.ts'
import { addressOf, type JobAttempt, logJobFailure, traceOf } from './job-attempt.ts'
import type { JobEnvironment } from './job-environment.ts'
import { describeFailure } from './job-fields.ts'
import { openServiceCall, openStepCall, type StepScope } from './open-step-call.ts'
import { claimJob, isClaimValid, type JobClaim, max_crashes, releaseJob, retryLater } from './rules.ts'
import { watchStep } from './watch-step.ts'
import { withdrawLostStart, withdrawUnansweredClaim } from './withdraw-lost-start.ts'

/**
 * Takes the lease and claims the job; undefined while another process holds it or nothing is due. `ended` resolves when
 * the job waits, is over or was given back; it never rejects.
 */
export async function performJob(
  call: Call,
  kind: AnyJobKind,
  doc: Doc<JobDocument>,
  environment: JobEnvironment,
): Promise<{ readonly ended: Promise<void> } | undefined> {
  const taken_ms = call.monotonic()
  const lease = await environment.leases.take(leaseKeyOf(kind, doc), lease_ms)
  if (!lease) return undefined
  const attempt: JobAttempt = { call, kind, id: doc.id, environment, lease, taken_ms, lost: new AbortController() }
  const work = await beginWork(attempt).catch(async (error: unknown) => {
    await releaseLease(attempt)
    throw error
  })
  if (work) return { ended: work.ended.finally(() => releaseLease(attempt)) }
  await releaseLease(attempt)
  return undefined
}

/** Claims the job and begins its work; undefined where nothing is due. */
async function beginWork(attempt: JobAttempt): Promise<{ readonly ended: Promise<void> } | undefined> {
  const sent: { claim?: JobClaim } = {}
  try {
    const claimed = await claim(attempt, sent)
    return claimed && { ended: holdWhile(attempt, claimed) }
  } catch (error) {
    // The document was removed after the look for due jobs.
    if (isRefusal(error) && error.code === 'not_found') return undefined
    if (!sent.claim || !isRefusal(error) || !error.row.retryable) throw error
    // The store may have made the claim before its answer was lost.
    logJobFailure(attempt, error)
    return { ended: withdrawUnansweredClaim(attempt, sent.claim) }
  }
}

/**
 * A claim that was held back for longer than the lease lives would take the job from its next holder, and is not made.
 * `sent`: receives the claim that the store is to write.
 */
async function claim(
  { call, kind, id, taken_ms }: JobAttempt,
  sent: { claim?: JobClaim },
): Promise<Doc<JobDocument> | undefined> {
  const store = call.store<JobDocument>(kind.collection)
  const { doc, answer } = await store.update<'held' | 'crashed' | undefined>(id, ({ value }) => {
    const next = call.monotonic() - taken_ms < lease_ms ? claimJob(value, call.now()) : undefined
    if (next === undefined) return { answer: undefined }
    if (next !== 'crashed') {
      sent.claim = { claims: next.job.claims }
      return { next, answer: 'held' }
    }
    const reason = `the service crashed ${max_crashes} times in this step: see its log, then start anew`
    return { ...buildFailure(call, kind, id, value, refuse('internal', reason)), answer: 'crashed' }
  })
  if (answer === 'held') return doc
  if (answer === 'crashed') {
    announceJob(call, kind.collection, doc)
    kind.onFailed?.(call, doc)
  }
  return undefined
}

/** Runs steps and renews the lease until the job is given up. Never rejects. */
async function holdWhile(attempt: JobAttempt, { value }: Doc<JobDocument>): Promise<void> {
  const { lost } = attempt
  const claimed: JobClaim = { claims: value.job.claims }
  const done = new AbortController()
  const watching = watchLease(attempt, claimed, done.signal)
  try {
    while (await performStep(attempt, claimed));
  } catch (error) {
    // The document store is unavailable; any other error is a defect, and counts as a crash.
    logJobFailure(attempt, error)
    if (isRefusal(error) && error.row.retryable) lost.abort()
  }
  done.abort()
  await watching
  if (lost.signal.aborted) await withdrawLostStart(attempt, claimed)
  lost.abort()
}

/** Performs one step. Returns whether the next may begin under the same claim. */
async function performStep(attempt: JobAttempt, claimed: JobClaim): Promise<boolean> {
  const { call, kind, id, lost } = attempt
  const doc = await call.store<JobDocument>(kind.collection).find(id)
  if (!doc || !isClaimValid(doc.value, claimed)) return false
  const step_ms = findStepLimit(attempt, doc)
  if (typeof step_ms !== 'number') {
    await settle(attempt, claimed, step_ms)
    return false
  }
  const limit = new AbortController()
  const signal = AbortSignal.any([call.signal, lost.signal, limit.signal])
  const fence: JobFence = { collection: kind.collection, id, claim: claimed, signal, onLost: () => lost.abort() }
  const scope = { trace: newTrace(call.random), signal }
  const service = fenceCall(openServiceCall(attempt, doc.value.tenant_id, scope), fence)
  const work = runStep(attempt, doc, { scope, fence, service }).catch((error: unknown) => error)
  const outcome = await watchStep(attempt, doc, { step_ms, scope, limit }, work)
  if (outcome === undefined) return await hasNextStep(attempt, doc, claimed, service)
  if (limit.signal.aborted && !lost.signal.aborted && !call.signal.aborted)
    await changeHeld(attempt, claimed, () => limit.signal.reason as Refusal)
  else await settle(attempt, claimed, outcome)
  return false
}

/** The time limit of the next step; the defect of a rule that gives none: without a limit, a step could run for ever. */
function findStepLimit({ call, kind }: JobAttempt, { id, value }: Doc<JobDocument>): number | Error {
  try {
    const step_ms = kind.stepLimit_ms(call, value)
    if (Number.isFinite(step_ms) && step_ms > 0) return step_ms
    return new RangeError(`the time limit of a step of the job ${id} is ${step_ms} ms; it must be a positive number`)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

type StepContext = {
  readonly scope: StepScope
  readonly fence: JobFence
  readonly service: Call
}

async function runStep(
  attempt: JobAttempt,
  doc: Doc<JobDocument>,
  { scope, fence, service }: StepContext,
): Promise<Refusal | undefined> {
  const own = await openStepCall(attempt, doc, scope)
  if (isRefusal(own)) return own
  const refused = await attempt.kind.admit?.(attempt.call, doc)
  if (refused) return refused
  fence.signal.throwIfAborted()
  return await attempt.kind.step(Object.assign(fenceCall(own, fence), { service }), doc)
}

/** Whether the step moved the job on; a step that moved nothing would run for ever, and fails the job. */
async function hasNextStep(
  attempt: JobAttempt,
  before: Doc<JobDocument>,
  claimed: JobClaim,
  service: Call,
): Promise<boolean> {
  const { kind, id } = attempt
  const after = await service.store<JobDocument>(kind.collection).find(id)
  if (!after || !isClaimValid(after.value, claimed)) return false
  if (after.value.job.step > before.value.job.step) return true
  await settle(attempt, claimed, new Error(`the step ${before.value.job.step} ended without moving the job`))
  return false
}

/** Gives the job back, puts it off or fails it, by what ended the step. */
async function settle(attempt: JobAttempt, claimed: JobClaim, outcome: unknown): Promise<void> {
  const { call, kind, id, environment, lost } = attempt
  if (outcome instanceof JobLostError || (lost.signal.aborted && !call.signal.aborted)) return
  const change = (rule: (value: JobDocument) => JobDocument | Refusal) => changeHeld(attempt, claimed, rule)
  if (call.signal.aborted) return await change((value) => releaseJob(value, call.now()))
  if (isRefusal(outcome) && outcome.row.retryable) {
    call.log.warn(`${environment.role}.${kind.name}.delayed`, { ...traceOf(call), job: id, error: outcome.message })
    const failure = describeFailure(outcome)
    const chance = Number.parseInt(call.random(4), 16) / 2 ** 32
    return await change((value) => {
      const next = retryLater(value, failure, { now_ms: call.now(), waits: kind.waits, chance })
      return next === 'exhausted' ? describeExhaustion(outcome, value) : next
    })
  }
  if (!isRefusal(outcome)) logJobFailure(attempt, outcome)
  await change(() =>
    isRefusal(outcome) ? outcome : refuse('internal', 'the service failed with an internal error: see its log'),
  )
}

function describeExhaustion({ code, message }: Refusal, { job: { failures } }: JobDocument): Refusal {
  return refuse(
    code,
    `the step failed ${failures + 1} times in a row, last with: ${message}; remove the cause, then start anew`,
  )
}

/** Changes the job under the claim; a refusal fails it. */
async function changeHeld(
  { call, kind, id }: JobAttempt,
  claimed: JobClaim,
  rule: (value: JobDocument) => JobDocument | Refusal,
): Promise<void> {
  const { doc, answer } = await call.store<JobDocument>(kind.collection).update(id, ({ value }) => {
    if (!isClaimValid(value, claimed)) return { answer: 'lost' }
    const next = rule(value)
    if (!isRefusal(next)) return { next, answer: 'moved' }
    return { ...buildFailure(call, kind, id, value, next), answer: 'failed' }
  })
  if (answer === 'lost') return
  announceJob(call, kind.collection, doc)
  if (answer === 'failed') kind.onFailed?.(call, doc)
}

/** The failed document with its audit record, which belongs to the tenant of the job. */
function buildFailure(call: Call, kind: AnyJobKind, id: string, value: JobDocument, refusal: Refusal) {
  const failure = describeFailure(refusal)
  const next = kind.fail(value, { failure, at: call.nowIso(), now_ms: call.now() })
  const detail = { failure, principal: value.job.principal?.subject ?? call.caller.subject }
  const event = call.audited(
    `${addressOf({ environment: { role: call.address.split('.')[0] ?? '' }, kind })}.failed`,
    id,
    detail,
    value.label as Label | undefined,
  )
  return { next, audit: [{ ...event, tenant_id: value.tenant_id }] }
}
