// Warns of a share of public requests with spans that no exporter takes.
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/proxy/settings.ts'
import type { PublicListenerOptions } from './public-listener-state.ts'

/** `resolved`: the settings that come into force. */
export function warnOfSpans({ log, spans }: PublicListenerOptions, resolved: ResolvedSettings): void {
  const { trace_ratio } = getSettings(resolved, settings)
  if (trace_ratio === 0 || spans) return
  log.warn('proxy.spans.no_exporter', { trace_ratio, remedy: 'set OTEL_EXPORTER_OTLP_ENDPOINT or traces.endpoint' })
}
