// Replays recorded traces through the guidance layer, and measures its knowledge of them and its effect.

import { getSettings } from '../../kernel/settings/get-settings.ts'
import { labelSettings } from '../../kernel/settings/platform-settings.ts'
import { resolveSettings } from '../../kernel/settings/settings.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type RecordedEvent, readTraceFiles, type TraceFaults } from './trace-lines.ts'
import { type ReplayReport, TraceReplay } from './trace-replay.ts'

export type EvaluationRequest = {
  readonly files: readonly string[]
  /** Only what was learnt before is measured, and only on traces that begin after it. */
  readonly learn_until?: string | undefined
  /** The same, as the share of the observations. */
  readonly train_share?: number | undefined
  readonly keepsGoing: boolean
  /** Levels of labels in the input, lowest first; default: those of a new site. */
  readonly levels?: readonly string[] | undefined
  /** Why the replay ends early; undefined: it goes on. */
  readonly findEnd: () => ReplayReport['ended'] | undefined
}

/** Events of a few seconds, between two looks at whether the replay is to end. */
const events_per_look = 1_000

export type EvaluationProgress = { readonly observations: number; readonly traces: number; readonly artifacts: number }

export async function evaluateTraces(
  request: EvaluationRequest,
  onProgress: (progress: EvaluationProgress) => void,
): Promise<ReplayReport> {
  const { files, keepsGoing, findEnd } = request
  const levels = request.levels ?? defaultLevels()
  const split_ms = await findSplit(request)
  const faults: TraceFaults = { keepsGoing, bad_lines: 0 }
  const replay = new TraceReplay({ levels, split_ms })
  try {
    let ended: ReplayReport['ended'] = 'end_of_input'
    let seen = 0
    for await (const event of readTraceFiles(files, faults)) {
      requireLevel(event, levels)
      await replay.follow(event)
      seen += 1
      if (!replay.hasWorked && seen % events_per_look !== 0) continue
      onProgress(replay.progress)
      const end = findEnd()
      if (end === undefined) continue
      ended = end
      break
    }
    await replay.finish()
    return await replay.report(ended, faults)
  } finally {
    await replay.close()
  }
}

function defaultLevels(): readonly string[] {
  const sources = { profile: {}, env: {}, flags: {}, resolvePath: (path: string) => path }
  const resolved = resolveSettings([labelSettings], { ...sources, readSecret: () => '', needsSecrets: () => false })
  return getSettings(resolved, labelSettings).levels
}

function requireLevel(event: RecordedEvent, levels: readonly string[]): void {
  const level = event.kind === 'observation' ? event.value.level : undefined
  if (level === undefined || levels.includes(level)) return
  throw new OfflineCommandError(
    2,
    `the input has the level ${JSON.stringify(level)}, which is not one of ${levels.join(', ')}`,
    'name the levels of its site by --levels, lowest first',
  )
}

/** The time of the split; undefined: everything is measured by what was learnt before it. */
async function findSplit(request: EvaluationRequest): Promise<number | undefined> {
  const { files, learn_until, train_share } = request
  if (learn_until !== undefined) return Date.parse(learn_until)
  if (train_share === undefined) return undefined
  const count = async (handle: (event: RecordedEvent, at: number) => boolean) => {
    let at = 0
    for await (const event of readTraceFiles(files, { keepsGoing: request.keepsGoing, bad_lines: 0 })) {
      if (event.kind !== 'observation') continue
      if (handle(event, at)) return
      at += 1
    }
  }
  let total = 0
  await count((_, at) => {
    total = at + 1
    return false
  })
  let split_ms: number | undefined
  await count(({ at_ms }, at) => {
    split_ms = at_ms
    return at >= total * train_share
  })
  return split_ms
}
