// Options that commands on signals and insights share, and the requests that they become.
import type { ApiObject } from '../client/client.ts'
import type { ParsedParams } from '../program/command.ts'
import { choice, instant, integer, text } from '../program/params.ts'
import { serviceOptions } from './service-options.ts'

export const changeOptions = {
  ifVersion: integer('VERSION', 'Change only this version; refuse if it has changed since', 1),
  ...serviceOptions,
}

export const createOptions = {
  idempotencyKey: text('KEY', 'Make a retry safe: the same key returns the object of the first request'),
}

/** The filters of every command that selects signals. */
export const filterOptions = {
  status: choice('STATUS', 'Only signals in this status', [
    'new',
    'acknowledged',
    'investigating',
    'resolved',
    'dismissed',
  ]),
  severity: choice('SEVERITY', 'Only signals of this severity', ['critical', 'high', 'medium', 'low', 'info']),
  type: text('TYPE', 'Only signals of this type'),
  subject: text('ID', 'Only signals about this subject'),
  sourceType: text('TYPE', 'Only signals from this kind of source'),
  sourceName: text('NAME', 'Only signals from this source'),
  silence: text('SILENCE', 'Only signals under this silence; add --visibility silenced for those still hidden'),
  visibility: choice('VISIBILITY', 'Only signals of this visibility; default listed', ['listed', 'silenced', 'merged']),
  since: instant('TIME', 'Detected at this time or later'),
  until: instant('TIME', 'Detected before this time'),
}

export function buildSignalFilter(options: ParsedParams<typeof filterOptions>): ApiObject {
  const { status, severity, type, subject, sourceType, sourceName, silence, visibility, since, until } = options
  const filter = {
    ...{ status, severity, signal_type: type, subject_id: subject, source_type: sourceType, source_name: sourceName },
    ...{ silence_id: silence, visibility, since, until },
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

type ChangeOptionsInput = { readonly ifVersion?: number | undefined; readonly idempotencyKey?: string | undefined }

export function toRequestOptions({ ifVersion, idempotencyKey }: ChangeOptionsInput) {
  return {
    ...(ifVersion === undefined ? {} : { if_match: ifVersion }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  }
}
