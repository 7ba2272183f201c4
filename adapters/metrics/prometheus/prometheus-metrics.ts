// Counts the kernel's declared metrics with prom-client, and prints them in the Prometheus text format.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import {
  isLabelValue,
  type Metric,
  type MetricLabels,
  type Metrics,
  other_label_value,
} from '../../../daemon/kernel/telemetry/metrics.ts'

export type PrometheusOptions = {
  /** Adds Node's own figures (memory, event loop, garbage collection); once for each process is enough. */
  readonly process?: boolean
  /** An undeclared metric, or a label that it does not have, throws; otherwise it is not counted. */
  readonly strict?: boolean
  /** Called once for each metric that is not counted. */
  readonly onUndeclared?: (metric: string) => void
}

type ValueRecorder = (value: number) => void

/** A declared metric with one recorder for each set of label values, so that a repeat costs one look-up. */
type RegisteredMetric = {
  readonly metric: Metric
  readonly recorders: Map<string, ValueRecorder>
  readonly recorderOf: (labels: Record<string, string>) => ValueRecorder
}

/** A registry of its own: two roles in one process may declare the same name. Throws when a name is declared twice. */
export function prometheusMetrics(declared: readonly Metric[], options: PrometheusOptions = {}): Metrics {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry })
  const undeclared = new Set<string>()
  const reportUndeclared = (name: string) => {
    if (undeclared.has(name)) return
    undeclared.add(name)
    options.onUndeclared?.(name)
  }
  const kept = new Map(declared.map((metric) => [metric.name, registerMetric(metric, registry)]))
  const recorder = (kind: Metric['kind'], metric: Metric, labels: Readonly<Record<string, string>>) => {
    const found = kept.get(metric.name)
    const key = found && labelValuesKey(found.metric, labels)
    if (found === undefined || key === undefined || found.metric.kind !== kind) {
      if (options.strict) throw new TypeError(`${metric.name} is not declared as a ${kind} with these labels`)
      reportUndeclared(metric.name)
      return undefined
    }
    return found.recorders.get(key) ?? cacheRecorder(found, key, labels, options.strict)
  }
  return {
    count: (metric, labels, by = 1) => recorder('counter', metric, labels)?.(by),
    set: (metric, labels, value) => recorder('gauge', metric, labels)?.(value),
    observe: (metric, labels, value) => recorder('histogram', metric, labels)?.(value),
    text: () => registry.metrics(),
  }
}

/** Of one metric: the listeners, operations, statuses and peers of a large site stay far below it. */
const max_series = 2_000

/** A value that is not one of its label's, and a series beyond the limit, is counted under `other`, and is not remembered. */
function cacheRecorder(
  found: RegisteredMetric,
  key: string,
  labels: Readonly<Record<string, string>>,
  strict = false,
): ValueRecorder {
  const { metric, recorders } = found
  const isFull = recorders.size >= max_series
  const declared = Object.entries(labels).map(([name, value]) => {
    const values = metric.labels[name] ?? []
    const isKnown = isLabelValue(values, value)
    if (strict && !isKnown) throw new TypeError(`${metric.name} is not declared with ${name} "${value}"`)
    return [name, isKnown && !(isFull && values === 'names') ? value : other_label_value] as const
  })
  const isOther = declared.some(([name, value]) => value !== labels[name])
  const recorder = found.recorderOf(Object.fromEntries(declared))
  if (!isOther) recorders.set(key, recorder)
  return recorder
}

/** The label values in declared order; undefined when a label is missing, unknown or not text. */
function labelValuesKey(metric: Metric, labels: MetricLabels<string>): string | undefined {
  let key = ''
  let declared = 0
  for (const name in metric.labels) {
    const value = labels[name]
    if (typeof value !== 'string') return undefined
    key = `${key}\0${value}`
    declared++
  }
  let given = 0
  for (const _name in labels) given++
  return given === declared ? key : undefined
}

function registerMetric(metric: Metric, registry: Registry): RegisteredMetric {
  const { name, help } = metric
  const common = { name, help, labelNames: Object.keys(metric.labels), registers: [registry] }
  const recorders = new Map<string, ValueRecorder>()
  if (metric.kind === 'counter') {
    const of = new Counter(common)
    return { metric, recorders, recorderOf: (labels) => bindRecorder(of.labels(labels), 'inc') }
  }
  if (metric.kind === 'gauge') {
    const of = new Gauge(common)
    return { metric, recorders, recorderOf: (labels) => bindRecorder(of.labels(labels), 'set') }
  }
  const of = new Histogram({ ...common, ...(metric.buckets ? { buckets: [...metric.buckets] } : {}) })
  return { metric, recorders, recorderOf: (labels) => bindRecorder(of.labels(labels), 'observe') }
}

function bindRecorder<K extends string>(child: Record<K, ValueRecorder>, verb: K): ValueRecorder {
  return (value) => child[verb](value)
}
