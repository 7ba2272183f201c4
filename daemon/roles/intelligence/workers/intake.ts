// Polls each due source and stores the counts.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { observedDependenciesPart } from '../../../kernel/role/observed-dependencies.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { nextTime } from '../../../kernel/schedule/next-time.ts'
import { countIntake } from '../signal-intake/metrics.ts'
import { polledSourcesPart, pollSchedulePart, sourceTallyPart } from '../signal-intake/parts.ts'
import { type FolderSource, type HttpSource, intakeSettings, sourceDependency } from '../signal-intake/settings.ts'
import { signalSources } from '../signal-source/model.ts'
import { pollSource } from '../signal-source/poll-source.ts'
import { storeTally } from '../signal-source/store-source.ts'

export const intake: Worker = { name: 'intake', when: { every_ms: 1_000 }, run }

type PolledSourceSettings = HttpSource | FolderSource

async function run(call: Call): Promise<void> {
  const polled = call.settings(intakeSettings).sources.filter((source) => source.kind !== 'webhook')
  await Promise.all(polled.map((source) => pollIfDue(call, source)))
  await storeTally(call)
}

async function pollIfDue(call: Call, source: PolledSourceSettings): Promise<void> {
  const { name } = source
  const planned = call.part(pollSchedulePart)
  const first = planned.isPlanned(name, call.now())
    ? undefined
    : await findFirstPollTime(call, source).catch(refuseUnexpected(call, name))
  if (isRefusal(first)) return recordFailure(call, source, first)
  if (first !== undefined) planned.plan(name, first, call.now())
  if (planned.isDue(name, call.now())) await pollAndReschedule(call, source)
}

/** A source with a schedule waits for the first time after its last success; any other starts at once. */
async function findFirstPollTime(call: Call, source: PolledSourceSettings): Promise<number> {
  const now = call.now()
  if (source.cron === undefined) return now
  const last = (await call.store(signalSources).find(source.name))?.value.last_success_at
  // A last success in the future is of a clock that was put back.
  return findNextPollTime(call, source, last === undefined ? now : Math.min(Date.parse(last), now))
}

function findNextPollTime(call: Call, { name, every_s, time_zone }: PolledSourceSettings, after: number): number {
  const schedule = call.part(polledSourcesPart).schedules.get(name)
  if (!schedule) return after + every_s * 1_000
  return nextTime(schedule, after, time_zone) ?? Number.POSITIVE_INFINITY
}

async function pollAndReschedule(call: Call, source: PolledSourceSettings): Promise<void> {
  const { name } = source
  const polled = call.part(polledSourcesPart).sources.get(name)
  const began = call.monotonic()
  const failed = polled ? await pollSource(call, source, polled).catch(refuseUnexpected(call, name)) : undefined
  if (call.signal.aborted) return
  const latency_ms = Math.round(call.monotonic() - began)
  const observation = { ok: !failed, detail: failed?.message ?? 'polled', latency_ms, at: call.now() }
  call.part(observedDependenciesPart).observe(sourceDependency(name), observation)
  if (failed) return recordFailure(call, source, failed)
  call.part(pollSchedulePart).plan(name, findNextPollTime(call, source, call.now()), call.now())
}

function recordFailure(call: Call, { name, every_s }: PolledSourceSettings, failed: Refusal): void {
  call.part(pollSchedulePart).recordFailure(name, every_s * 1_000, call.now())
  call.part(sourceTallyPart).recordFailure(name, 'failed', failed, call.nowIso())
  countIntake(call, 'polling', 'failed')
  call.log.warn('intelligence.source.failed', { source: name, code: failed.code, detail: failed.message })
}

/** Turns an unexpected error into a refusal, so that one source does not delay the others. */
function refuseUnexpected({ log, trace }: Call, source: string) {
  return (error: unknown): Refusal => {
    if (isRefusal(error)) return error
    log.error('intelligence.source.broken', { trace_id: trace.trace_id, source, error: String(error) })
    return refuse('internal', 'the poll of the source failed unexpectedly; see intelligence.source.broken in the log')
  }
}
