// Caches delegated tokens, so that repeated requests for the same rights mint one token and leave one audit record.
import { isRefusal } from '../../kernel/error/errors.ts'
import type { DelegatedToken } from '../../kernel/identity/delegation.ts'
import type { Delegations } from '../../roles/site/delegation/model.ts'

const max_cached = 10_000

type ReusableToken = { readonly pending: ReturnType<Parameters<Delegations['reuse']>[1]>; renew_ts: number }

/** `now` in epoch milliseconds. A token is reused for the first half of its life; a refusal or a failure never is. */
export function tokenCache(now: () => number): Delegations['reuse'] {
  const cached = new Map<string, ReusableToken>()
  return async (key, create) => {
    const found = cached.get(key)
    if (found && now() < found.renew_ts) return await found.pending
    cached.delete(key)
    const begun = now()
    const entry: ReusableToken = { pending: create(), renew_ts: Number.POSITIVE_INFINITY }
    cached.set(key, entry)
    // The oldest entry goes first: a Map keeps the order of insertion.
    if (cached.size > max_cached) cached.delete(cached.keys().next().value ?? key)
    const discard = () => {
      if (cached.get(key) === entry) cached.delete(key)
    }
    try {
      const issued = await entry.pending
      if (isRefusal(issued)) discard()
      else entry.renew_ts = halfLife(begun, issued)
      return issued
    } catch (error) {
      discard()
      throw error
    }
  }
}

function halfLife(begun: number, { expires_ts }: DelegatedToken): number {
  return begun + (expires_ts - begun) / 2
}
