// A running link: its loops, and the watchers that trigger them.

import { type FolderWatcher, watchFolder } from '../../../platform/folder-watch/watch-folder.ts'
import { describeFailure } from '../failure-text.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { acknowledgementReceiver } from '../receiving/acknowledgement-receiver.ts'
import type { IncomingMessageHandler } from '../receiving/batch/deliver-batch.ts'
import { type Intake, intake } from '../receiving/intake.ts'
import { type FiledropOutbox, filedropOutbox } from '../sending/outbox.ts'
import { clearDrafts } from '../sending/publish-message.ts'
import type { FiledropLink } from './filedrop-link.ts'

export type FiledropLinkRuntime = {
  readonly link: FiledropLink
  readonly outbox: FiledropOutbox
  /** Absent before `run`. */
  intake(): Intake | undefined
  /** Begins to take in, and to watch. */
  run(deliver: IncomingMessageHandler): void
  /** Wakes all loops. Has no effect before `run`. */
  trigger(): void
  idle(): Promise<void>
  close(): Promise<void>
}

/** `isThere`: whether the folders have been made, so that they can be watched. */
export function openLinkRuntime(
  link: FiledropLink,
  filedrop: FiledropContext,
  isThere: () => boolean,
): FiledropLinkRuntime {
  const sending = filedropOutbox(link, filedrop)
  const acknowledgements = acknowledgementReceiver(link, sending, filedrop)
  let receiving: Intake | undefined
  const watching: FolderWatcher[] = []

  const watch = () => {
    if (watching.length > 0 || !receiving || !filedrop.settings.watch || !isThere()) return
    const onError = (error: unknown) => {
      filedrop.log.warn('filedrop.watch.failed', { peer: link.peer, detail: describeFailure(error) })
    }
    const { scanLoop } = receiving
    watching.push(watchFolder(link.paths.fresh, () => scanLoop.trigger(), onError))
    watching.push(watchFolder(link.paths.ready, () => sending.pickups.trigger(), onError))
  }
  const loops = () => [sending.reporter, sending.publisher, sending.pickups, ...(receiving ? [receiving.scanLoop] : [])]
  return {
    link,
    outbox: sending,
    intake: () => receiving,
    run(deliver) {
      // Messages to the carrier itself, such as receipts, go no further.
      receiving ??= intake(link, filedrop, (message, trace) =>
        message.statement.kind === 'gap_receipt' ? acknowledgements.receive(message) : deliver(message, trace),
      )
      if (isThere()) clearStaleDrafts(link, filedrop)
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
      await receiving?.close()
      link.pins.close()
    },
  }
}

function clearStaleDrafts(link: FiledropLink, { log }: FiledropContext): void {
  try {
    clearDrafts(link.folders)
  } catch (error) {
    log.warn('filedrop.drafts.not_removed', { peer: link.peer, detail: describeFailure(error) })
  }
}
