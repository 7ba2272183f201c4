// Writes the matches of a run. Their ids derive from their records, so a repeat changes nothing.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { upsertMatches } from '../entity-match/upsert-matches.ts'
import { recordUid } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import { runWork } from '../parts.ts'
import { listWithdrawnSince } from '../withdrawal/list-withdrawn.ts'
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
  const uidOf = (ref: RecordRef) => recordUid(run.value.tenant_id, run.value.lens, ref)
  let written = 0
  for await (const batch of call.part(runWork).matches(run.id)) {
    signal.throwIfAborted()
    const withdrawn = await listWithdrawnSince(call, run.value, run.value.created_at)
    const kept = batch.filter((pair) => ![pair.left, pair.right].some((ref) => withdrawn.has(uidOf(ref))))
    await upsertMatches(call, origin, kept)
    written += batch.length
    call.part(runWork).reportProgress(run.id, { phase, step: 'write matches', done: written, total })
  }
  if (run.value.consensus) call.wake('consult')
}
