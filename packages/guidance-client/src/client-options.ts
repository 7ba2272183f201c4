// Options of the client, and the documented variables that they are read from.

export type GuidanceClientOptions = {
  /** Base URL of the gateway. */
  readonly url: string
  /** The token of each request: of the user for whom the emitter works, or of an administrator. Never kept or logged. */
  readonly token: () => string | Promise<string>
  /** Envelopes of one request. */
  readonly batch_size?: number
  /** Longest time that an envelope waits for others. */
  readonly flush_interval_ms?: number
  readonly retry_attempts?: number
  readonly retry_base_ms?: number
  readonly retry_cap_ms?: number
  readonly post_timeout_s?: number
  /** Envelopes that wait, those of the request under way among them; further ones are dropped and counted. */
  readonly queue_maxsize?: number
  /** Called with the number of envelopes that were dropped, and the reason; never with their content. */
  readonly onDrop?: (count: number, reason: DropReason) => void
}

/** `queue_full`: before any request. The others: of the last attempt of a request. */
export type DropReason =
  | 'queue_full'
  | 'no_token'
  | 'timeout'
  | 'connection'
  | 'server_error'
  | 'too_many_requests'
  | 'refused'

export type ClientLimits = Required<Omit<GuidanceClientOptions, 'url' | 'token' | 'onDrop'>>

type LimitRule = {
  readonly variable: string
  readonly default: number
  readonly least: number
  readonly most: number
}

/** The bounds keep a mistake from becoming a loop without pause or a request without end. */
const rules: { readonly [K in keyof ClientLimits]: LimitRule } = {
  batch_size: { variable: 'GUIDE_INGEST_BATCH_SIZE', default: 50, least: 1, most: 1_000 },
  flush_interval_ms: { variable: 'GUIDE_INGEST_FLUSH_INTERVAL_MS', default: 500, least: 1, most: 600_000 },
  retry_attempts: { variable: 'GUIDE_INGEST_RETRY_ATTEMPTS', default: 2, least: 0, most: 20 },
  retry_base_ms: { variable: 'GUIDE_INGEST_RETRY_BASE_MS', default: 200, least: 1, most: 60_000 },
  retry_cap_ms: { variable: 'GUIDE_INGEST_RETRY_CAP_MS', default: 2_000, least: 1, most: 600_000 },
  post_timeout_s: { variable: 'GUIDE_INGEST_POST_TIMEOUT_SEC', default: 30, least: 0.01, most: 600 },
  queue_maxsize: { variable: 'GUIDE_INGEST_QUEUE_MAXSIZE', default: 10_000, least: 1, most: 1_000_000 },
}

/** Options first, then the variables of `env`, which the program passes if it wants them to count. */
export function readLimits(
  options: GuidanceClientOptions,
  env: Readonly<Record<string, string | undefined>>,
): ClientLimits {
  const limits = Object.entries(rules).map(([name, rule]) => {
    const given = options[name as keyof ClientLimits]
    const [value, source] =
      given !== undefined ? [given, name] : [Number(env[rule.variable] || rule.default), rule.variable]
    const isWhole = name === 'post_timeout_s' || Number.isInteger(value)
    if (isWhole && value >= rule.least && value <= rule.most) return [name, value] as const
    throw new RangeError(`${source} is ${value}: it must be a number from ${rule.least} to ${rule.most}`)
  })
  return Object.fromEntries(limits) as ClientLimits
}
