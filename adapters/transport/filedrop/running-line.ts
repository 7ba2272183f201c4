// A line at work: its loops, and the watchers that wake them.

import { failureText } from './failure-text.ts'
import type { Line } from './line.ts'
import type { Deliver } from './receiving/delivering.ts'
import { evidence } from './receiving/evidence.ts'
import { type Intake, intake } from './receiving/intake.ts'
import { type Outbox, outbox } from './sending/outbox.ts'
import { clearDrafts } from './sending/publishing.ts'
import type { Surroundings } from './surroundings.ts'
import { type Watching, watchFolder } from './watching.ts'

export type RunningLine = {
  readonly line: Line
  readonly outbox: Outbox
  /** Absent before `run`. */
  intake(): Intake | undefined
  /** Begins to take in, and to watch. */
  run(deliver: Deliver): void
  /** Asks all loops to look. Before `run` nothing looks. */
  trigger(): void
  idle(): Promise<void>
  close(): Promise<void>
}

/** `isThere`: whether the folders have been made, so that they can be watched. */
export function openLine(line: Line, around: Surroundings, isThere: () => boolean): RunningLine {
  const sending = outbox(line, around)
  const proofs = evidence(line, sending, around)
  let receiving: Intake | undefined
  const watching: Watching[] = []

  const watch = () => {
    if (watching.length > 0 || !receiving || !around.settings.watch || !isThere()) return
    const onError = (error: unknown) => {
      around.log.warn('filedrop.watch.failed', { peer: line.peer, detail: failureText(error) })
    }
    const { scanner } = receiving
    watching.push(watchFolder(line.folders.fresh, () => scanner.trigger(), onError))
    watching.push(watchFolder(line.folders.ready, () => sending.pickups.trigger(), onError))
  }
  const loops = () => [sending.reporter, sending.publisher, sending.pickups, ...(receiving ? [receiving.scanner] : [])]
  return {
    line,
    outbox: sending,
    intake: () => receiving,
    run(deliver) {
      // What is said to the carrier itself goes no further.
      receiving ??= intake(line, around, (message, trace) =>
        message.statement.kind === 'gap_receipt' ? proofs.take(message) : deliver(message, trace),
      )
      if (isThere()) tidy(line, around)
    },
    trigger() {
      if (!receiving) return
      watch()
      for (const each of loops()) each.trigger()
    },
    async idle() {
      for (const each of loops()) await each.idle()
    },
    async close() {
      for (const each of loops()) each.stop()
      await Promise.all(watching.map((each) => each.close()))
      for (const each of loops()) await each.idle()
    },
  }
}

function tidy(line: Line, { log }: Surroundings): void {
  try {
    clearDrafts(line.folders)
  } catch (error) {
    log.warn('filedrop.drafts.kept', { peer: line.peer, detail: failureText(error) })
  }
}
