// Labels of generated workflows in the graphs.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'

const max_label = 200

/** `<service>/workflow:<operators>`, or a digest of them where they are too long for a label. */
export function labelDecision(service: string, steps: readonly string[]): string {
  const path = steps.join('>')
  return `${service}/workflow:${path.length > max_label ? sha256(path).slice(0, 32) : path}`
}

/** Apart from the tools of the service. */
export function labelOperator(service: string, operator: string): string {
  return `${service}/operator:${operator}`
}
