// Exports traces to a collector; loads the exporter only if the settings name one.
import type { OtlpSpanRecorder } from '../../../adapters/host/traces/otlp-spans.ts'
import { product } from '../../../adapters/platform/product/product.ts'
import type { Site } from '../../kernel/role/site.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { areSpansEnabled, traceSettings } from '../../kernel/settings/trace-settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

/** Undefined if spans are disabled. Throws if a file of the settings cannot be read. */
export async function openSpanExporter(
  resolved: ResolvedSettings,
  site: Site,
  log: Log,
): Promise<OtlpSpanRecorder | undefined> {
  const settings = getSettings(resolved, traceSettings)
  if (!areSpansEnabled(settings)) return undefined
  const { otlpSpans } = await import('../../../adapters/host/traces/otlp-spans.ts')
  const resource = { 'service.version': product.version, 'service.namespace': site.name }
  return otlpSpans({ settings, resource, version: product.version, log })
}
