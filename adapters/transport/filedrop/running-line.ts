// A line at work: its two loops, and the watcher that wakes them.
import { type Intake, intake } from './intake.ts'
import type { Line } from './line.ts'
import { type Outbox, outbox } from './outbox.ts'
import { clearDrafts } from './publishing.ts'
import type { Surroundings } from './surroundings.ts'
import type { Deliver } from './taking-in.ts'
import { type Watching, watchFolders } from './watching.ts'

export type RunningLine = {
  readonly line: Line
  readonly outbox: Outbox
  /** Absent before `run`. */
  intake(): Intake | undefined
  /** Begins to take in, and to watch. */
  run(deliver: Deliver): void
  /** Asks both loops to look. Before `run` nothing looks. */
  trigger(): void
  idle(): Promise<void>
  close(): Promise<void>
}

/** `isThere`: whether the folders have been made, so that they can be watched. */
export function openLine(line: Line, around: Surroundings, isThere: () => boolean): RunningLine {
  const sending = outbox(line, around)
  let receiving: Intake | undefined
  let watching: Watching | undefined

  const watch = () => {
    if (watching || !receiving || !around.settings.watch || !isThere()) return
    const both = () => {
      receiving?.scanner.trigger()
      sending.publisher.trigger()
    }
    watching = watchFolders([line.folders.fresh, line.folders.ready], both, (error) => {
      around.log.warn('filedrop.watch.failed', { peer: line.peer, detail: String(error) })
    })
  }
  return {
    line,
    outbox: sending,
    intake: () => receiving,
    run(deliver) {
      receiving ??= intake(line, around, deliver)
      if (isThere()) tidy(line, around)
    },
    trigger() {
      if (!receiving) return
      watch()
      receiving.scanner.trigger()
      sending.publisher.trigger()
    },
    async idle() {
      await receiving?.scanner.idle()
      await sending.publisher.idle()
    },
    async close() {
      receiving?.scanner.stop()
      sending.publisher.stop()
      await watching?.close()
      await receiving?.scanner.idle()
      await sending.publisher.idle()
    },
  }
}

function tidy(line: Line, { log }: Surroundings): void {
  try {
    clearDrafts(line.folders)
  } catch (error) {
    log.warn('filedrop.drafts.kept', { peer: line.peer, detail: String(error) })
  }
}
