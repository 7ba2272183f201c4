// Every metric that a role exposes, as the running service prints it, with the labels that it was declared with.
import type { Metric } from '../../../daemon/kernel/telemetry/metrics.ts'

/** `exposed` is the Prometheus text of the role. */
export function formatMetrics(role: string, exposed: string, declared: readonly Metric[]): string {
  const kinds = new Map([...exposed.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]))
  const lines = [...exposed.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help]) => {
    const labels = declared.find((metric) => metric.name === name)?.labels ?? {}
    return `${name}{${Object.keys(labels).join(',')}} ${kinds.get(name)}: ${help}`
  })
  return `# ${role}\n${lines.sort().join('\n')}\n`
}
