// Raises a signal.
import { classificationOptions, classificationWhereSaid } from '../../classification.ts'
import { command, Failure } from '../../command.ts'
import { show } from '../../output.ts'
import { choice, decimal, instant, names, needed, otherwise, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { createOptions, extrasOf } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'

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
    type: needed(text('TYPE', 'what kind of signal, as in watchlist_hit')),
    severity: needed(choice('SEVERITY', 'how grave', ['critical', 'high', 'medium', 'low', 'info'])),
    title: needed(text('TEXT', 'what it says, in a line')),
    subjectType: needed(choice('TYPE', 'what kind of thing it is about', subjectTypes)),
    subjectId: needed(text('ID', 'which one')),
    subjectName: needed(text('NAME', 'what people call it')),
    detected: instant('TIME', 'when it was noticed; now unless said'),
    description: text('TEXT', 'more about it'),
    source: otherwise(
      'manual',
      choice('TYPE', 'where it comes from', ['webhook', 'mcp', 'polling', 'internal', 'manual', 'computed']),
    ),
    sourceName: text('NAME', 'which of them: a detector, a feed, a rule'),
    confidence: decimal('SHARE', 'how sure', 0, 1),
    expires: instant('TIME', 'its end; else by its type'),
    related: names('SIGNAL,...', 'signals that belong to it'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform signal create --type watchlist_hit --severity high --title "seen at anchor" --subject-type asset --subject-id ship-1 --subject-name Aurora',
  async run(given, terminal) {
    const { type: signal_type, severity, title, description, confidence, expires: expires_at, related } = given
    const api = await service(given, terminal)
    const input = {
      ...{ signal_type, severity, title, description, confidence, expires_at },
      subject: { type: given.subjectType, id: given.subjectId, name: given.subjectName },
      source: { type: given.source, ...(given.sourceName === undefined ? {} : { name: given.sourceName }) },
      detected_at: detectedAt(given),
      ...(related.length ? { related_signals: [...related] } : {}),
      classification: await classificationWhereSaid(given, terminal),
    }
    const made = await api.call('intelligence.signal.create', input, extrasOf(given))
    show(terminal, given.json, made, () => signalText(terminal, made))
    return 0
  },
})

/** A repeat must say the same, which a clock does not. */
function detectedAt({
  detected,
  idempotencyKey,
}: {
  detected: string | undefined
  idempotencyKey: string | undefined
}) {
  if (detected === undefined && idempotencyKey !== undefined)
    throw new Failure(2, '--idempotency-key needs --detected, so that a repeat says the same')
  return detected ?? new Date().toISOString()
}
