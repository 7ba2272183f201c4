// Exports traces to a collector; loads the exporter only if the settings name one.
import type { OtlpSpanRecorder } from '../../../adapters/host/traces/otlp-spans.ts'
import manifest from '../../../package.json' with { type: 'json' }
import type { Log, Site } from '../../kernel/operation/call.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { areSpansEnabled, traceSettings } from '../../kernel/settings/trace-settings.ts'
import { getSettings } from '../profile.ts'

/** Undefined if spans are disabled. Throws if a file of the settings cannot be read. */
export async function openSpanExporter(
  resolved: ResolvedSettings,
  site: Site,
  log: Log,
): Promise<OtlpSpanRecorder | undefined> {
  const settings = getSettings(resolved, traceSettings)
  if (!areSpansEnabled(settings)) return undefined
  const { otlpSpans } = await import('../../../adapters/host/traces/otlp-spans.ts')
  const resource = { 'service.version': manifest.version, 'service.namespace': site.name }
  return otlpSpans({ settings, resource, version: manifest.version, log })
}
