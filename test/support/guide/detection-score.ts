// Scores alarms on streams of outcomes whose changes are known, by the rules of the published figures beside them.

/** `bits`: 1 is a success. `at` is the first outcome after the change, `width` how long it takes. */
export type OutcomeStream = {
  readonly id: string
  readonly kind: string
  readonly changes: readonly { readonly at: number; readonly width: number }[]
  readonly bits: string
}

/** An alarm as long after the end of a change still belongs to it. */
const tolerance = 500

export type DetectionScore = {
  readonly f1: number
  readonly falseAlarmsPer10k: number
  /** Of the first alarm that belongs to each detected change, from its onset. */
  readonly delays: readonly number[]
  readonly missed: number
}

/** `listAlarms` answers the indices at which a detector raised an alarm. */
export function scoreDetection(
  streams: readonly OutcomeStream[],
  listAlarms: (bits: string) => readonly number[],
): DetectionScore {
  const delays: number[] = []
  let changes = 0
  let falseAlarms = 0
  let quietOutcomes = 0
  for (const stream of streams) {
    const alarms = listAlarms(stream.bits)
    const spans = stream.changes.map(({ at, width }) => [at, at + width + tolerance] as const)
    for (const [from, end] of spans) {
      const first = alarms.find((at) => at >= from && at < end)
      if (first !== undefined) delays.push(first - from)
      quietOutcomes -= end - from
    }
    changes += spans.length
    quietOutcomes += stream.bits.length
    falseAlarms += alarms.filter((at) => !spans.some(([from, end]) => at >= from && at < end)).length
  }
  const missed = changes - delays.length
  const f1 = (2 * delays.length) / (2 * delays.length + falseAlarms + missed)
  return { f1, falseAlarmsPer10k: (falseAlarms / quietOutcomes) * 10_000, delays, missed }
}
