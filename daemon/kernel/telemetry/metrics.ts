// Declarations of metrics; an adapter counts them and prints the Prometheus text format.

export type Metric<L extends string = string> = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly labels: readonly L[]
  /** Upper bounds of a histogram, in the unit of its name. */
  readonly buckets?: readonly number[]
}

const metric =
  (kind: Metric['kind']) =>
  <const L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets?: readonly number[],
  ): Metric<L> => ({
    kind,
    name,
    help,
    labels,
    ...(buckets ? { buckets } : {}),
  })

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
