// Declarations of metrics; an adapter counts them and prints the Prometheus text format.

/**
 * The values of a label: a closed set, the status of an HTTP answer (or `aborted`), or `names` that the product declares or
 * an operator pins, such as operations and peers. Never text of a request. Any other value is counted as `other`.
 */
export type LabelValues = readonly string[] | 'status' | 'names'

export const other_label_value = 'other'

export type Metric<L extends string = string> = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly labels: { readonly [K in L]: LabelValues }
  /** Upper bounds of a histogram, in the unit of its name. */
  readonly buckets?: readonly number[]
}

const metric =
  (kind: Metric['kind']) =>
  <L extends string = never>(
    name: string,
    help: string,
    labels: { readonly [K in L]: LabelValues },
    buckets?: readonly number[],
  ): Metric<L> => ({
    kind,
    name,
    help,
    labels,
    ...(buckets ? { buckets } : {}),
  })

const value_patterns = { status: /^(?:[1-5]\d\d|aborted)$/, names: /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/ }

export function isLabelValue(values: LabelValues, value: string): boolean {
  if (typeof values === 'string') return value_patterns[values].test(value)
  return values.includes(value)
}

export const counter = metric('counter')
export const gauge = metric('gauge')
export const histogram = metric('histogram')

export type MetricLabels<L extends string> = { readonly [K in L]: string }

export interface Metrics {
  count<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, by?: number): void
  set<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, value: number): void
  observe<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, value: number): void
  /** Prometheus text exposition of the metrics named, or of all. */
  text(): Promise<string>
}
