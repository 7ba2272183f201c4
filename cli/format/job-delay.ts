// Formats why the work of a run, an exchange or a bulk disposition is put off.

type JobDelay = {
  readonly failure: { readonly reason: string }
  readonly failures: number
  readonly next_attempt_at?: string
}

/** The field of an object whose work is put off; none for any other. */
export function formatDelay({ delay }: Readonly<Record<string, unknown>>): { delayed?: string } {
  if (!delay) return {}
  const { failure, failures, next_attempt_at } = delay as JobDelay
  const next = next_attempt_at === undefined ? 'an attempt runs' : `next attempt ${next_attempt_at}`
  return { delayed: `${failure.reason} (${failures} ${failures === 1 ? 'failure' : 'failures'} in a row, ${next})` }
}
