// Failures between this process and the cluster, classified by whether the request may have had an effect.
import { errors } from '@opensearch-project/opensearch'
import * as z from 'zod'
import { Refusal } from '../../../../daemon/kernel/error/errors.ts'

/**
 * `undone`: the cluster refused the request or never received it. `unknown`: it may have done it, or may do it still.
 * `type`: the cluster's own name of the error. Carries nothing of what was sent.
 */
export class ClusterFailure extends Error {
  readonly effect: 'undone' | 'unknown'
  readonly type: string
  readonly retry_after_s: number

  constructor(effect: 'undone' | 'unknown', type: string, retry_after_s = 5) {
    super(`the cluster cannot be used now (${type})`)
    this.name = 'ClusterFailure'
    this.effect = effect
    this.type = type
    this.retry_after_s = retry_after_s
  }
}

/** In a few words, for logs and health. */
function describeError(error: unknown): string {
  if (error instanceof ClusterFailure) return error.type
  return error instanceof Error ? error.message : String(error)
}

/** A failure as callers may see it; anything else as it is. */
export function toRefusal(error: unknown): unknown {
  return error instanceof ClusterFailure ? storeUnavailable(error.type, error.retry_after_s) : error
}

export function storeUnavailable(why: string, retry_after_s = 5): Refusal {
  return new Refusal('unavailable', `the document store cannot be used now (${why})`, [], retry_after_s)
}

/** How the cluster calls it. */
export const index_not_found = 'index_not_found_exception'

const errorResponse = z.object({
  error: z.object({ type: z.string(), root_cause: z.array(z.object({ type: z.string() })).optional() }),
})

/** Failures before a connection: no address, no listener, no trust. No request was sent. */
const neverSentPattern = /^(connect |getaddrinfo |.*certificate|.*(TLS|SSL|tlsv1)|.*EPROTO|Hostname\/IP)/i

/** Converts an error of the client into a failure. A mistake of this program comes back as it is. */
export function toClusterFailure(error: unknown): unknown {
  if (error instanceof errors.ResponseError) return responseFailure(error.statusCode ?? 0, error.body, error.headers)
  if (error instanceof errors.ConnectionError)
    return neverSentPattern.test(error.message)
      ? new ClusterFailure('undone', 'no connection')
      : new ClusterFailure('unknown', 'the connection broke')
  if (error instanceof errors.TimeoutError || error instanceof errors.RequestAbortedError)
    return new ClusterFailure('unknown', 'no answer in time')
  if (error instanceof errors.DeserializationError) return new ClusterFailure('unknown', 'the answer is not JSON')
  if (error instanceof errors.NoLivingConnectionsError) return new ClusterFailure('undone', 'no connection')
  return error
}

function responseFailure(status: number, body: unknown, headers: Record<string, unknown> | null | undefined): unknown {
  const parsed = errorResponse.safeParse(body)
  const type = parsed.success ? (parsed.data.error.root_cause?.[0]?.type ?? parsed.data.error.type) : `status ${status}`
  const wait = Number(headers?.['retry-after'])
  return statusFailure(status, type, Number.isInteger(wait) && wait > 0 ? wait : undefined)
}

/** Blocks: no elected manager, state not recovered, or indexes made read-only by a full disk. None lets a write through. */
const blockedPattern =
  /^(cluster_block_exception|unavailable_shards_exception|es_rejected_execution_exception|opensearch_rejected_execution_exception|rejected_execution_exception|circuit_breaking_exception|cluster_manager_not_discovered_exception|no_shard_available_action_exception|index_not_found_exception)$/

/** Also for the items of a bulk request, which carry a status each. */
export function statusFailure(status: number, type: string, retry_after_s?: number): Error {
  if (blockedPattern.test(type) || status === 429) return new ClusterFailure('undone', type, retry_after_s)
  if (status === 401 || status === 403)
    return new ClusterFailure('undone', 'the cluster refused the credentials of this site', 30)
  if (status === 413) return new Refusal('too_large', 'the document is too large for the cluster')
  if (status >= 500 || status === 408) return new ClusterFailure('unknown', type, retry_after_s)
  return new Error(`the cluster refused a request: ${status} ${type}`)
}

/** Reasons of failed writes by collection. `prefix`: of the names of their indexes. */
export function describeFailures(failures: ReadonlyMap<string, unknown>, prefix: string): Map<string, string> {
  return new Map([...failures].map(([alias, error]) => [alias.slice(prefix.length), describeError(error)]))
}
