// Traces for a collector, where the settings name one: elsewhere nothing of it is loaded.
import type { OtlpSpans } from '../../adapters/host/traces/otlp-spans.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Log, Site } from '../kernel/call.ts'
import type { Resolved } from '../kernel/settings.ts'
import { areSpansWanted, traceSettings } from '../kernel/trace-settings.ts'
import { valuesOf } from './profile.ts'

/** Undefined where no spans are wanted. Throws when a setting names what cannot be read. */
export async function openSpans(resolved: Resolved, site: Site, log: Log): Promise<OtlpSpans | undefined> {
  const settings = valuesOf(resolved, traceSettings)
  if (!areSpansWanted(settings)) return undefined
  const { otlpSpans } = await import('../../adapters/host/traces/otlp-spans.ts')
  const resource = { 'service.version': manifest.version, 'service.namespace': site.name }
  return otlpSpans({ settings, resource, version: manifest.version, log })
}
