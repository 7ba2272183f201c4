// Raises a signal.

import { formatSignal } from '../../format/signal.ts'
import { classificationOptions, resolveClassificationIfGiven } from '../../options/classification.ts'
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
  summary: 'raise a signal about a subject',
  options: {
    type: required(text('TYPE', 'what kind of signal, as in watchlist_hit')),
    severity: required(choice('SEVERITY', 'how grave', ['critical', 'high', 'medium', 'low', 'info'])),
    title: required(text('TEXT', 'what it says, in a line')),
    subjectType: required(choice('TYPE', 'what kind of thing it is about', subjectTypes)),
    subjectId: required(text('ID', 'which one')),
    subjectName: required(text('NAME', 'what people call it')),
    detected: instant('TIME', 'when it was noticed; now unless said'),
    description: text('TEXT', 'more about it'),
    source: withDefault(
      'manual',
      choice('TYPE', 'where it comes from', ['webhook', 'mcp', 'polling', 'internal', 'manual', 'computed']),
    ),
    sourceName: text('NAME', 'which of them: a detector, a feed, a rule'),
    confidence: decimal('SHARE', 'how sure', 0, 1),
    expires: instant('TIME', 'its end; else by its type'),
    related: nameList('SIGNAL,...', 'signals that belong to it'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform signal create --type watchlist_hit --severity high --title "seen at anchor" --subject-type asset --subject-id ship-1 --subject-name Aurora',
  async run(given, terminal) {
    const { type: signal_type, severity, title, description, confidence, expires: expires_at, related } = given
    const api = await connectService(given, terminal)
    const input = {
      ...{ signal_type, severity, title, description, confidence, expires_at },
      subject: { type: given.subjectType, id: given.subjectId, name: given.subjectName },
      source: { type: given.source, ...(given.sourceName === undefined ? {} : { name: given.sourceName }) },
      detected_at: resolveDetectionTime(given),
      ...(related.length ? { related_signals: [...related] } : {}),
      classification: await resolveClassificationIfGiven(given, terminal),
    }
    const made = await api.call('intelligence.signal.create', input, toRequestOptions(given))
    printResult(terminal, given.json, made, () => formatSignal(terminal, made))
    return 0
  },
})

/** A repeat must say the same, which a clock does not. */
function resolveDetectionTime({
  detected,
  idempotencyKey,
}: {
  detected: string | undefined
  idempotencyKey: string | undefined
}) {
  if (detected === undefined && idempotencyKey !== undefined)
    throw new CommandFailure(2, '--idempotency-key needs --detected, so that a repeat says the same')
  return detected ?? new Date().toISOString()
}
