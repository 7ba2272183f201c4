// How long after a change of the stream the layer has found it.

/** A change that the input names: from this time on, optionally of one tool. */
export type LabelledChange = { readonly at_ms: number; readonly tool?: string | undefined }

export type FoundDrift = {
  readonly rule: string
  /** `<service>/<tool>`, or another end of an edge. */
  readonly source: string
  readonly at_ms: number
  /** Observations up to then. */
  readonly events: number
}

export type DriftDelay = {
  readonly change: LabelledChange
  /** Absent: it was not found before the next change, or the end. */
  readonly found?: { readonly rule: string; readonly delay_events: number; readonly delay_ms: number }
}

export type DriftFigures = {
  readonly delays: readonly DriftDelay[]
  /** Those that belong to no change of the input. */
  readonly others: number
}

/** Rules by which outcomes are found to have changed; the others are about what was learnt. */
const change_rules: ReadonlySet<string> = new Set(['window_divergence', 'inverted_edge', 'contradicted_edge'])

/** `changes`: in the order of time, each with the number of observations before it. */
export function measureDelays(
  changes: readonly (LabelledChange & { readonly events: number })[],
  found: readonly FoundDrift[],
): DriftFigures {
  const used = new Set<FoundDrift>()
  const delays = changes.map(({ events, ...change }, at): DriftDelay => {
    const until = changes.slice(at + 1).find(({ tool }) => tool === change.tool)?.at_ms ?? Number.POSITIVE_INFINITY
    const first = found.find(
      (each) =>
        change_rules.has(each.rule) &&
        each.at_ms >= change.at_ms &&
        each.at_ms < until &&
        (change.tool === undefined || each.source === change.tool) &&
        !used.has(each),
    )
    if (!first) return { change }
    used.add(first)
    const { rule, at_ms } = first
    return { change, found: { rule, delay_events: first.events - events, delay_ms: at_ms - change.at_ms } }
  })
  return { delays, others: found.length - used.size }
}
