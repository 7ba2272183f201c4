// Stops work on something that ends while the work runs, as when a person cancels it.
import type { Call } from '../../kernel/operation/call.ts'

type WatchedEnd = {
  /** Announces changes of what the work is for. */
  readonly topic: string
  /** Another process may end it without an announcement here. */
  readonly poll_interval_ms: number
  readonly hasEnded: () => Promise<boolean>
}

/** Aborts `ended` when `hasEnded`. Watches until `through` is aborted. */
export async function abortWhenEnded(
  call: Call,
  { topic, poll_interval_ms, hasEnded }: WatchedEnd,
  through: AbortSignal,
  ended: AbortController,
): Promise<void> {
  for await (const _ of call.changes(topic, through, poll_interval_ms)) {
    if (await hasEnded()) ended.abort()
  }
}
