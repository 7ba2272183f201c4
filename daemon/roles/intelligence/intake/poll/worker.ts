// Asks each polled source at its times, and writes down what has come.
import type { Call } from '../../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../../kernel/errors.ts'
import type { Worker } from '../../../../kernel/role.ts'
import { counted } from '../metrics.ts'
import { pollsPart, schedulePart, tallyPart } from '../parts.ts'
import { type FolderSource, type HttpSource, intakeSettings } from '../settings.ts'
import { tallyWritten } from '../source/written.ts'
import { pollSource } from './poll-source.ts'

export const intake: Worker = { name: 'intake', when: { every_ms: 1_000 }, run }

type Polled = HttpSource | FolderSource

async function run(call: Call): Promise<void> {
  const due = call
    .settings(intakeSettings)
    .sources.filter((source) => source.kind !== 'webhook')
    .filter((source) => call.part(schedulePart).isDue(source.name, firstOf(call, source), call.now()))
  await Promise.all(due.map((source) => poll(call, source)))
  await tallyWritten(call)
}

/** A source of times is not asked before its first; any other at once. */
function firstOf(call: Call, { cron }: Polled): number {
  return cron === undefined ? call.now() : call.part(pollsPart).nextOf(cron)
}

async function poll(call: Call, source: Polled): Promise<void> {
  const { name, every_s, cron } = source
  const polled = call.part(pollsPart).sources.get(name)
  const failed = polled ? await pollSource(call, source, polled).catch(unforeseen(call, name)) : undefined
  if (call.signal.aborted) return
  const now = call.now()
  if (!failed) {
    call
      .part(schedulePart)
      .succeeded(name, cron === undefined ? now + every_s * 1_000 : call.part(pollsPart).nextOf(cron))
    return
  }
  call.part(schedulePart).failed(name, every_s * 1_000, now)
  call.part(tallyPart).failed(name, 'failed', failed, call.nowIso())
  counted(call, name, 'failed')
  call.log.warn('intelligence.source.failed', { source: name, code: failed.code, detail: failed.message })
}

/** One source must not hold up the others. */
function unforeseen({ log, trace }: Call, source: string) {
  return (error: unknown): Refused => {
    if (isRefused(error)) return error
    log.error('intelligence.source.broken', { trace_id: trace.trace_id, source, error: String(error) })
    return refuse('internal', 'the source could not be taken in; the log has the cause')
  }
}
