// The compiled configuration of the request steps: built from the settings at the start and at each reload.
import type * as z from 'zod'
import { type AllowlistMatcher, compileAllowlist } from './allowlist/matcher.ts'
import { type AllowlistRule, parseAllowlist } from './allowlist/rule.ts'
import type { settings } from './settings.ts'

export type ProxySettings = Readonly<z.output<typeof settings.schema>>

export type ProxyConfig = {
  /** Public prefix such as `/public-api`, without a trailing slash. */
  readonly prefix: string
  readonly rules: readonly AllowlistRule[]
  readonly match: AllowlistMatcher
  readonly hasPost: boolean
  /** Trusted hops before the proxy, 1 or more. */
  readonly depth: number
  readonly ipv6_prefix: number
  readonly read_limit: number
  readonly write_limit: number
  readonly max_body_bytes: number
  readonly max_target_bytes: number
  readonly cors_origin: string
  /** 0: nothing is cached. */
  readonly cache_max_bytes: number
  readonly cache_ttl_ms: number
  /** 0: no request has a span. */
  readonly trace_ratio: number
  readonly trace_mode: ProxySettings['trace_mode']
}

/** Requires settings in which `findStartFaults` finds no fault: a valid allowlist, and a trusted depth. */
export function compileProxyConfig(values: ProxySettings): ProxyConfig {
  const { rules } = parseAllowlist(values.allowlist)
  return {
    prefix: values.public_path_prefix,
    rules,
    match: compileAllowlist(rules),
    hasPost: rules.some(({ method }) => method === 'POST'),
    depth: values.trusted_proxy_depth ?? 1,
    ipv6_prefix: values.ipv6_prefix,
    read_limit: values.rate_limit_per_min,
    write_limit: values.write_rate_limit_per_min,
    max_body_bytes: values.write_max_body_bytes,
    max_target_bytes: values.max_target_bytes,
    cors_origin: values.cors_allow_origin,
    cache_max_bytes: values.cache_max_mb * 1_048_576,
    cache_ttl_ms: values.cache_ttl_s * 1_000,
    trace_ratio: values.trace_ratio,
    trace_mode: values.trace_mode,
  }
}
