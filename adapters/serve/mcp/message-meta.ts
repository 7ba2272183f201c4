// Conditions and trace of a call from the `_meta` of its message, for clients that cannot set headers.
import type { HeaderFields, SurfaceCallOptions, SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'

/** By key of `_meta`; see `Request` of the kernel. */
const conditionHeaders: Readonly<Record<string, string>> = {
  'platform/idempotency-key': 'idempotency-key',
  'platform/if-match': 'if-match',
}

/** As the protocol names them, whatever header the listener takes traces from. */
const traceFields = { traceparent: 'traceparent', tracestate: 'tracestate' }

export function readMeta({ body }: Pick<SurfaceRequest, 'body'>): Pick<SurfaceCallOptions, 'headers' | 'trace'> {
  const { params } = body as { params?: { _meta?: Record<string, unknown> } }
  const meta = params?._meta ?? {}
  return { headers: pickTexts(meta, conditionHeaders), trace: pickTexts(meta, traceFields) }
}

function pickTexts(meta: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): HeaderFields {
  const named = Object.entries(names).map(([key, name]) => [name, meta[key]] as const)
  return Object.fromEntries(named.filter((entry): entry is readonly [string, string] => typeof entry[1] === 'string'))
}
