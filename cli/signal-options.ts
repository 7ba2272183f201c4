// What commands on signals and insights take besides their own, and how it is sent.
import { otherwise, text, whole } from './params.ts'
import { serviceOptions } from './service.ts'

export const changeOptions = {
  ifVersion: whole('VERSION', 'only if it is still at this version', 1),
  ...serviceOptions,
}

export const createOptions = { idempotencyKey: text('KEY', 'a repeat with the same key finds what the first made') }

export const listOptions = { limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)), ...serviceOptions }

type Typed = { readonly ifVersion?: number | undefined; readonly idempotencyKey?: string | undefined }

export function extrasOf({ ifVersion, idempotencyKey }: Typed) {
  return {
    ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  }
}
