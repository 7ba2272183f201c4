// Settings of the export of traces to a collector, under the names of OpenTelemetry.
import * as z from 'zod'
import { type SettingValues, settingsBlock } from './settings.ts'

const url = z.url({ protocol: /^https?$/ })
const file = z.string().min(1)

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** `A` for all signals, `A_TRACES_B` for traces alone, which goes before. */
const envNamesOf = (name: string): string[] => [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]

export const traceSettings = settingsBlock('traces', {
  enabled: z
    .union([
      z.boolean(),
      z
        .string()
        .regex(/^(true|false)$/i, 'OTEL_ENABLED must be true or false')
        .transform((text) => text.toLowerCase() === 'true'),
    ])
    .optional()
    .meta({
      env: 'OTEL_ENABLED',
      doc: 'false: no spans, regardless of other settings. true: spans, even without an endpoint. Absent: exporter and endpoint decide.',
    }),
  protocol: z
    .literal('http/json', {
      error:
        'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, the only one that is spoken: take it away, and name the collector’s OTLP/HTTP receiver in OTEL_EXPORTER_OTLP_ENDPOINT',
    })
    .optional()
    .meta({ env: envNamesOf('PROTOCOL'), doc: 'OTLP protocol; only http/json is supported.' }),
  exporter: z.enum(['otlp', 'none']).optional().meta({
    env: 'OTEL_TRACES_EXPORTER',
    doc: 'otlp: export spans to a collector over OTLP/HTTP. Absent: the same if an endpoint is set.',
  }),
  disabled: z
    .boolean()
    .default(false)
    .meta({ env: 'OTEL_SDK_DISABLED', doc: 'No spans, regardless of other settings.' }),
  endpoint: url.optional().meta({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    doc: 'Base URL of the collector; spans go to its path v1/traces (default: http://localhost:4318).',
  }),
  traces_endpoint: url.optional().meta({
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    doc: 'Full URL for spans, instead of endpoint.',
  }),
  headers: z
    .string()
    .max(8_192)
    .default('')
    .meta({
      env: envNamesOf('HEADERS'),
      secret: true,
      doc: 'Headers for the collector, as name=value,name=value with the values URL-encoded.',
    }),
  timeout_ms: z
    .int()
    .min(1)
    .max(600_000)
    .default(10_000)
    .meta({
      env: envNamesOf('TIMEOUT'),
      doc: 'Time limit for sending one batch, including retries.',
    }),
  ca_file: file
    .optional()
    .meta({ env: envNamesOf('CERTIFICATE'), doc: 'Authorities (PEM) for the collector’s certificate.' }),
  client_cert_file: file
    .optional()
    .meta({ env: envNamesOf('CLIENT_CERTIFICATE'), doc: 'Client certificate (PEM) for the collector.' }),
  client_key_file: file
    .optional()
    .meta({ env: envNamesOf('CLIENT_KEY'), doc: 'Private key (PEM) of client_cert_file.' }),
  sampler: z.enum(samplers).default('parentbased_always_on').meta({
    env: 'OTEL_TRACES_SAMPLER',
    doc: 'Sampler that selects the traces to export.',
  }),
  sampler_arg: z.number().min(0).max(1).default(1).meta({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    doc: 'Share of traces that a traceidratio sampler exports.',
  }),
  service_name: z.string().min(1).max(256).optional().meta({
    env: 'OTEL_SERVICE_NAME',
    doc: 'service.name of the spans (default: that of resource_attributes, or platform).',
  }),
  resource_attributes: z.string().max(8_192).default('').meta({
    env: 'OTEL_RESOURCE_ATTRIBUTES',
    doc: 'Attributes of this process in its spans, as name=value,name=value with the values URL-encoded.',
  }),
  delay_ms: z.int().min(1).max(600_000).default(5_000).meta({
    env: 'OTEL_BSP_SCHEDULE_DELAY',
    doc: 'Time that spans wait to be sent in one batch.',
  }),
  batch: z.int().min(1).max(65_536).default(512).meta({
    env: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    doc: 'Maximum number of spans in one batch.',
  }),
  queue: z.int().min(1).max(1_000_000).default(2_048).meta({
    env: 'OTEL_BSP_MAX_QUEUE_SIZE',
    doc: 'Maximum number of waiting spans; further ones are dropped.',
  }),
})

/** Whether spans are exported at all. A setting that disables them wins over one that enables them. */
export function areSpansEnabled(
  given: Partial<
    Pick<SettingValues<typeof traceSettings>, 'enabled' | 'disabled' | 'exporter' | 'endpoint' | 'traces_endpoint'>
  >,
): boolean {
  const { enabled, disabled, exporter, endpoint, traces_endpoint } = given
  if (disabled || enabled === false) return false
  if (exporter) return exporter === 'otlp'
  return enabled ?? (endpoint !== undefined || traces_endpoint !== undefined)
}
