// The slowest transfer that a listener waits for: a body that a client sends, or an answer that it reads.

/** A transfer has `grace_ms`, and one second more for each `bytes_per_s` that it has moved. */
export type TransferPace = { readonly grace_ms: number; readonly bytes_per_s: number }

export function isBelowPace(bytes: number, elapsed_ms: number, { grace_ms, bytes_per_s }: TransferPace): boolean {
  return elapsed_ms > grace_ms + (bytes / bytes_per_s) * 1_000
}
