// Raises a signal.

import { formatSignal } from '../../format/signal.ts'
import { classificationOptions, resolveOptionalClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { createOptions, toRequestOptions } from '../../options/signal-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, decimal, instant, nameList, required, text, withDefault } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

const subjectTypes = [
  'entity',
  'location',
  'asset',
  'event',
  'organization',
  'person',
  'document',
  'dataset',
  'sensor',
  'other',
] as const

export const definition = command({
  words: 'signal create',
  summary: 'Raise a signal about a subject',
  options: {
    type: required(text('TYPE', 'Type of the signal, such as watchlist_hit')),
    severity: required(choice('SEVERITY', 'Severity', ['critical', 'high', 'medium', 'low', 'info'])),
    title: required(text('TEXT', 'One-line summary')),
    subjectType: required(choice('TYPE', 'Type of the subject', subjectTypes)),
    subjectId: required(text('ID', 'ID of the subject')),
    subjectName: required(text('NAME', 'Display name of the subject')),
    detected: instant('TIME', 'Time of detection (default: now)'),
    description: text('TEXT', 'Longer description'),
    source: withDefault(
      'manual',
      choice('TYPE', 'Kind of source', ['webhook', 'mcp', 'polling', 'internal', 'manual', 'computed']),
    ),
    sourceName: text('NAME', 'Name of the source, such as a detector, feed or rule (default: none)'),
    confidence: decimal('SHARE', 'Confidence, 0 to 1 (default: none)', 0, 1),
    expires: instant('TIME', 'Time of expiry (default: by type, from the settings)'),
    related: nameList('SIGNAL,...', 'IDs of related signals (default: none)'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform signal create --type watchlist_hit --severity high --title "seen at anchor" --subject-type asset --subject-id ship-1 --subject-name Aurora',
  async run(params, terminal) {
    const { type: signal_type, severity, title, description, confidence, expires: expires_at, related } = params
    const api = await connectService(params, terminal)
    const input = {
      ...{ signal_type, severity, title, description, confidence, expires_at },
      subject: { type: params.subjectType, id: params.subjectId, name: params.subjectName },
      source: { type: params.source, ...(params.sourceName === undefined ? {} : { name: params.sourceName }) },
      detected_at: resolveDetectionTime(params),
      ...(related.length ? { related_signals: [...related] } : {}),
      classification: await resolveOptionalClassification(params, terminal),
    }
    const created = await api.call('intelligence.signal.create', input, toRequestOptions(params))
    printResult(terminal, params.json, created, () => formatSignal(terminal, created))
    return 0
  },
})

/** A retry must send the same content, so the current time cannot be the default there. */
function resolveDetectionTime({
  detected,
  idempotencyKey,
}: {
  detected: string | undefined
  idempotencyKey: string | undefined
}) {
  if (detected === undefined && idempotencyKey !== undefined)
    throw new CommandFailure(2, '--idempotency-key needs --detected, so that a retry sends the same content')
  return detected ?? new Date().toISOString()
}
