// Where events of lineage go: a file of this machine, or a collector of the site's network.
import * as z from 'zod'
import { clearance } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { part } from '../../../kernel/role/part.ts'
import type { LineageEvent } from './open-lineage.ts'

const path = z.string().startsWith('/', 'must be an absolute path').max(4_096)
/** Of the readers of the sink: runs whose label it does not dominate are left out. */
const shared = { clearance }

export const lineageSinkSettings = z.union([
  z.strictObject({ file: path, ...shared }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    /** A file with the key that the collector wants as bearer. */
    key_file: path.optional(),
    /** Authorities in PEM instead of those of the machine. */
    ca_file: path.optional(),
    ...shared,
  }),
])
export type LineageSinkSettings = z.infer<typeof lineageSinkSettings>

export type LineageSink = {
  readonly clearance: z.infer<typeof clearance>
  /** Durable, or accepted by the collector, when it resolves. Throws `Refusal('unavailable')`. */
  write(events: readonly LineageEvent[], call: Pick<Call, 'signal' | 'trace'>): Promise<void>
}

export const lineageSinksPart = part<readonly LineageSink[]>('lineage-sinks')
