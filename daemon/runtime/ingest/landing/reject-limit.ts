// How many records of a landing may be left out.

/** Absolute, or in parts of all records. */
export type RejectLimit = { readonly count: number } | { readonly share: number }

/** Records before a share ends a landing early: the beginning of a file need not be typical. */
const early_rejects = 100_000

/** Whether more were left out than may be. `isEnd`: whether no record follows. */
export function exceedsRejectLimit(limit: RejectLimit, rejects: number, landed: number, isEnd: boolean): boolean {
  if ('count' in limit) return rejects > limit.count
  return (isEnd || rejects >= early_rejects) && rejects > limit.share * (rejects + landed)
}

/** Continues a sentence about records that do not fit. */
export function describeRejectLimit(limit: RejectLimit): string {
  return `at most ${'count' in limit ? limit.count : `${Number((limit.share * 100).toPrecision(6))} %`} may be`
}
