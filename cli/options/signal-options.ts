// What commands on signals and insights take besides their own, and how it is sent.
import type { ApiObject } from '../client/client.ts'
import type { ParsedParams } from '../program/command.ts'
import { choice, instant, integer, text, withDefault } from '../program/params.ts'
import { serviceOptions } from './service-options.ts'

export const changeOptions = {
  ifVersion: integer('VERSION', 'only if it is still at this version', 1),
  ...serviceOptions,
}

export const createOptions = { idempotencyKey: text('KEY', 'a repeat with the same key finds what the first made') }

export const listOptions = {
  limit: withDefault(50, integer('COUNT', 'at most so many', 1, 100_000)),
  ...serviceOptions,
}

/** What signals are picked by, wherever many are. */
export const filterOptions = {
  status: choice('STATUS', 'only those in this status', [
    'new',
    'acknowledged',
    'investigating',
    'resolved',
    'dismissed',
  ]),
  severity: choice('SEVERITY', 'only those of this severity', ['critical', 'high', 'medium', 'low', 'info']),
  type: text('TYPE', 'only those of this type'),
  subject: text('ID', 'only those about this subject'),
  sourceType: text('TYPE', 'only those from this kind of source'),
  sourceName: text('NAME', 'only those from this source'),
  silence: text('SILENCE', 'only those that came under this silence; with --visibility silenced'),
  visibility: choice('VISIBILITY', 'those in plain lists unless said', ['listed', 'silenced', 'merged']),
  since: instant('TIME', 'detected then or later'),
  until: instant('TIME', 'detected before'),
}

export function buildSignalFilter(given: ParsedParams<typeof filterOptions>): ApiObject {
  const { status, severity, type, subject, sourceType, sourceName, silence, visibility, since, until } = given
  const named = {
    ...{ status, severity, signal_type: type, subject_id: subject, source_type: sourceType, source_name: sourceName },
    ...{ silence_id: silence, visibility, since, until },
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}

type ChangeOptionsInput = { readonly ifVersion?: number | undefined; readonly idempotencyKey?: string | undefined }

export function toRequestOptions({ ifVersion, idempotencyKey }: ChangeOptionsInput) {
  return {
    ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  }
}
