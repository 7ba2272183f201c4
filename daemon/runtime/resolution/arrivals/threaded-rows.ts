// The records of a file that was taken, from a thread that reads it: hostile content delays no other work of the service.

import { refuse } from '../../../kernel/error/errors.ts'
import type { Compute } from '../../../kernel/role/compute.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import type { FileRow, LeftOutRows } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { readComputeLimits, resolutionThreads } from '../run-threads.ts'
import type { RowPiece, RowReadingJob, RowReadingResult } from './row-pieces.ts'

/** Of the whole file, with the time in which its records wait for a run: the most that a timer has, 24 days. */
const timeout_ms = 2_147_483_647

export type RowReader = (
  job: Omit<RowReadingJob, 'reading' | 'taken'>,
  onLeftOut: (rows: LeftOutRows) => void,
  signal: AbortSignal,
) => AsyncGenerator<FileRow>

export function openRowReader(resolved: ResolvedSettings): RowReader {
  return threadedRows(resolutionThreads(), readComputeLimits(resolved).max_memory_bytes)
}

/** Throws `Refusal('malformed')` for a file that cannot be read, and the reason of the signal. */
export function threadedRows(compute: Compute, max_memory_bytes: number): RowReader {
  return async function* (job, onLeftOut, signal) {
    const taken = new Int32Array(new SharedArrayBuffer(4))
    const stop = new AbortController()
    const received: RowPiece[] = []
    let news = Promise.withResolvers<void>()
    const notify = () => {
      news.resolve()
      news = Promise.withResolvers()
    }
    let end: { readonly result: RowReadingResult } | { readonly error: unknown } | undefined
    const work = compute
      .run({
        ...{ input: { ...job, reading: 'rows', taken } satisfies RowReadingJob, timeout_ms, max_memory_bytes },
        signal: AbortSignal.any([signal, stop.signal]),
        report(piece) {
          received.push(piece as RowPiece)
          notify()
        },
      })
      .then(
        (result) => ({ result: result as RowReadingResult }),
        (error: unknown) => ({ error }),
      )
      .then((ended) => {
        end = ended
        notify()
      })
    try {
      for (;;) {
        const piece = received.shift()
        if (piece) {
          onLeftOut(piece.left_out)
          yield* piece.rows
          Atomics.add(taken, 0, 1)
          Atomics.notify(taken, 0)
        } else if (end) break
        else await news.promise
      }
      if ('error' in end) throw end.error
      const { fault } = end.result
      if (fault) throw refuse(fault.isFinal ? 'malformed' : 'unavailable', `the file${fault.text}`)
    } finally {
      stop.abort()
      await work
    }
  }
}
