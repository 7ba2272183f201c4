// Limits of the JSON in a message between sites, the same for every carrier and for the operations that read it again.
import type { JsonLimits } from '../encoding/json-limits.ts'

/** Of envelopes, statements, notes and manifests, whose bytes bound the rest. */
export const messageJsonLimits: JsonLimits = { max_depth: 16 }

/**
 * Of a body, which may have 4 MiB: at these numbers no stage of reading it occupies the event loop for long. The largest body of
 * a site is an evidence block of 1,000 contributors, some 28,000 values and 100 names; it has few escapes.
 */
export const bodyLimits = {
  ...messageJsonLimits,
  max_values: 40_000,
  max_names: 1_000,
  max_escapes: 200_000,
} as const satisfies JsonLimits
