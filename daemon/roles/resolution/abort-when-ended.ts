// Stops work on something that ends while the work runs, as when a person cancels it.
import type { Call } from '../../kernel/operation/call.ts'

type WatchedEnd = {
  /** Topic that announces changes of the watched document. */
  readonly topic: string
  /** Interval of polling: another process may end the work without an announcement here. */
  readonly poll_interval_ms: number
  readonly hasEnded: () => Promise<boolean>
}

/** Aborts `endController` once `hasEnded` resolves to true. Watches until `stopSignal` is aborted. */
export async function abortWhenEnded(
  call: Call,
  { topic, poll_interval_ms, hasEnded }: WatchedEnd,
  stopSignal: AbortSignal,
  endController: AbortController,
): Promise<void> {
  for await (const _ of call.changes(topic, stopSignal, poll_interval_ms)) {
    if (await hasEnded()) endController.abort()
  }
}
