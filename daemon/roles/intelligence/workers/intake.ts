// Polls each due source and stores the counts.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { countIntake } from '../signal-intake/metrics.ts'
import { polledSourcesPart, pollSchedulePart, sourceTallyPart } from '../signal-intake/parts.ts'
import { type FolderSource, type HttpSource, intakeSettings } from '../signal-intake/settings.ts'
import { pollSource } from '../signal-source/poll-source.ts'
import { storeTally } from '../signal-source/store-source.ts'

export const intake: Worker = { name: 'intake', when: { every_ms: 1_000 }, run }

type PolledSourceSettings = HttpSource | FolderSource

async function run(call: Call): Promise<void> {
  const due = call
    .settings(intakeSettings)
    .sources.filter((source) => source.kind !== 'webhook')
    .filter((source) => call.part(pollSchedulePart).isDue(source.name, firstPollTime(call, source), call.now()))
  await Promise.all(due.map((source) => pollAndReschedule(call, source)))
  await storeTally(call)
}

/** A source with a schedule waits for its first time; any other starts at once. */
function firstPollTime(call: Call, { cron }: PolledSourceSettings): number {
  return cron === undefined ? call.now() : call.part(polledSourcesPart).nextRun(cron)
}

async function pollAndReschedule(call: Call, source: PolledSourceSettings): Promise<void> {
  const { name, every_s, cron } = source
  const polled = call.part(polledSourcesPart).sources.get(name)
  const failed = polled ? await pollSource(call, source, polled).catch(refuseUnexpected(call, name)) : undefined
  if (call.signal.aborted) return
  const now = call.now()
  if (!failed) {
    call
      .part(pollSchedulePart)
      .recordSuccess(name, cron === undefined ? now + every_s * 1_000 : call.part(polledSourcesPart).nextRun(cron))
    return
  }
  call.part(pollSchedulePart).recordFailure(name, every_s * 1_000, now)
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
