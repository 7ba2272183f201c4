// Writes the matches of a run. Their ids derive from their records, so a repeat changes nothing.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { upsertMatches } from '../entity-match/upsert-matches.ts'
import { runWork } from '../parts.ts'
import type { StoredRun } from './model.ts'

/** Writes the matches in the files of the last phase. `signal` is aborted when the run has ended; throws its reason. */
export async function publishMatches(
  call: Call,
  run: Doc<StoredRun>,
  total: number,
  signal: AbortSignal,
): Promise<void> {
  const origin = { ...run.value, run_id: run.id }
  const phase = run.value.state === 'matching' ? 'match' : 'resolve'
  let written = 0
  for await (const batch of call.part(runWork).matches(run.id)) {
    signal.throwIfAborted()
    await upsertMatches(call, origin, batch)
    written += batch.length
    call.part(runWork).reportProgress(run.id, { phase, step: 'write matches', done: written, total })
  }
  if (run.value.consensus) call.wake('consult')
}
