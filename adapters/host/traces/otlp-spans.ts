// Exports ended spans to an OpenTelemetry collector over OTLP/HTTP: in batches, from a bounded queue, in the background.
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { SettingValues } from '../../../daemon/kernel/settings/settings.ts'
import type { traceSettings } from '../../../daemon/kernel/settings/trace-settings.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { SpanRecorder, TraceSpan } from '../../../daemon/kernel/telemetry/spans.ts'
import { parseNameValues } from './name-values.ts'
import { createSampler } from './sampling.ts'

export type OtlpOptions = {
  readonly settings: SettingValues<typeof traceSettings>
  /** Attributes of the process, which settings may override. */
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
  readonly log: Log
}

export type OtlpSpanRecorder = SpanRecorder & {
  /** Sends what waits. Resolves when that has been tried, at the latest after this long; nothing is sent any more then. */
  close(limit_ms: number): Promise<void>
}

/** Throws when a list or a file of the settings cannot be read. */
export function otlpSpans({ settings, resource, version, log }: OtlpOptions): OtlpSpanRecorder {
  const line = openExporter(settings)
  /** Spans that the processor holds or sends. It drops what is beyond its queue without a word, so the limit is kept here. */
  let waiting = 0
  const onSent = (spans: number) => {
    waiting -= spans
  }
  const processor = new BatchSpanProcessor({
    exporter: observeExports(line.exporter, log, onSent),
    scheduledDelayMillis: settings.delay_ms,
    maxExportBatchSize: Math.min(settings.batch, settings.queue),
    maxQueueSize: settings.queue,
    exportTimeoutMillis: settings.timeout_ms + 1_000,
  })
  const attributes = parseSettingList(settings.resource_attributes, 'resource_attributes')
  const named = settings.service_name === undefined ? {} : { 'service.name': settings.service_name }
  const about = buildResource({ 'service.name': 'platform', ...resource, ...attributes, ...named })
  return {
    start: createSampler(settings.sampler, settings.sampler_arg),
    end(span) {
      if (!isSampled(span)) return true
      if (waiting >= settings.queue) return false
      waiting += 1
      processor.onEnd(toReadableSpan(span, about, version))
      return true
    },
    async close(limit_ms) {
      const flushed = processor.shutdown().catch(() => undefined)
      let timer: NodeJS.Timeout | undefined
      await Promise.race([flushed, new Promise((resolve) => (timer = setTimeout(resolve, limit_ms)))])
      clearTimeout(timer)
      line.cut()
    },
  }
}

function isSampled({ trace }: TraceSpan): boolean {
  return (Number.parseInt(trace.flags, 16) & TraceFlags.SAMPLED) !== 0
}

/** The way to the collector, and what cuts it off: a stop must not wait for one that does not answer. */
function openExporter(settings: OtlpOptions['settings']): { exporter: SpanExporter; cut(): void } {
  const base = (settings.endpoint ?? 'http://localhost:4318').replace(/\/$/, '')
  const url = settings.traces_endpoint ?? `${base}/v1/traces`
  const headers = parseSettingList(settings.headers, 'headers')
  const pem = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'))
  const tls = {
    ca: pem(settings.ca_file),
    cert: pem(settings.client_cert_file),
    key: pem(settings.client_key_file),
  }
  const agent = url.startsWith('https:')
    ? new https.Agent({ keepAlive: true, ...tls })
    : new http.Agent({ keepAlive: true })
  let isCut = false
  const exporter = new OTLPTraceExporter({
    url,
    timeoutMillis: settings.timeout_ms,
    concurrencyLimit: 2,
    httpAgentOptions: () => agent,
    // Called before each attempt.
    headers: async () => (isCut ? Promise.reject(new Error('stopped')) : headers),
  })
  const cut = () => {
    isCut = true
    agent.destroy()
  }
  return { exporter, cut }
}

/** One line when spans begin to be lost, and one when they no longer are: not one for each batch. `onSent`: also of lost ones. */
function observeExports(exporter: SpanExporter, log: Log, onSent: (spans: number) => void): SpanExporter {
  let isLosing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        onSent(spans.length)
        const { error } = result
        if (error && !isLosing) log.warn('traces.export.failed', { spans: spans.length, error: error.message })
        if (!error && isLosing) log.info('traces.export.resumed')
        isLosing = error !== undefined
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

const spanKinds: Readonly<Record<TraceSpan['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/** The span as the library would have made it, with the ids that logs and audit records have. */
function toReadableSpan(span: TraceSpan, resource: ReadableSpan['resource'], version: string): ReadableSpan {
  const { trace_id, span_id, parent_id, flags } = span.trace
  const shared = { traceId: trace_id, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
  const lasted_ms = Math.max(0, span.ended_ms - span.started_ms)
  return {
    name: span.name,
    kind: spanKinds[span.kind],
    spanContext: () => ({ ...shared, spanId: span_id }),
    ...(parent_id === undefined ? {} : { parentSpanContext: { ...shared, spanId: parent_id } }),
    startTime: toHrTime(span.started_ms),
    endTime: toHrTime(span.started_ms + lasted_ms),
    duration: toHrTime(lasted_ms),
    ended: true,
    status: { code: span.isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { ...span.attributes },
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: 'platform', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function buildResource(attributes: Readonly<Record<string, string>>): ReadableSpan['resource'] {
  const resource: ReadableSpan['resource'] = {
    attributes: { ...attributes },
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}

/** Whole seconds and the nanoseconds over them. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)]
}

function parseSettingList(text: string, setting: string): Record<string, string> {
  const found = parseNameValues(text)
  if (!found) throw new Error(`traces.${setting} must be a list as in name=value,name=value`)
  return found
}
