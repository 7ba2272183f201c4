// Silences signals for a time.

import { formatSilence } from '../../../format/silence.ts'
import { classificationOptions, resolveClassificationIfGiven } from '../../../options/classification.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { createOptions, toRequestOptions } from '../../../options/signal-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { duration, instant, nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal silence create',
  summary: 'keep signals that match out of plain lists for a time; they are stored as ever',
  notes:
    'A signal matches when each option that is given names its value; values between commas are alternatives, and * at the end of a type, subject or source name stands for the rest.',
  options: {
    type: nameList('TYPE,...', 'of these types'),
    severity: nameList('SEVERITY,...', 'of these severities'),
    subjectType: nameList('TYPE,...', 'about these kinds of things'),
    subject: nameList('ID,...', 'about these subjects'),
    sourceType: nameList('TYPE,...', 'from these kinds of sources'),
    sourceName: nameList('NAME,...', 'from these sources'),
    reason: required(text('TEXT', 'why')),
    comment: text('TEXT', 'a word more'),
    owner: text('WHO', 'who answers for it; you unless said'),
    from: instant('TIME', 'its start; now unless said'),
    until: instant('TIME', 'its end; or --for'),
    for: duration('TIME', 'how long from its start; or --until'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform signal silence create --source-name "buoy-*" --for 8h --reason "the buoys are serviced"',
  async run(given, terminal) {
    const { reason, comment, owner, from: starts_at } = given
    const matchers = {
      ...{ signal_type: given.type, severity: given.severity, subject_type: given.subjectType },
      ...{ subject_id: given.subject, source_type: given.sourceType, source_name: given.sourceName },
    }
    const api = await connectService(given, terminal)
    const input = {
      ...{ reason, comment, owner, starts_at, ends_at: resolveSilenceEnd(given) },
      matchers: Object.fromEntries(Object.entries(matchers).filter(([, values]) => values.length > 0)),
      classification: await resolveClassificationIfGiven(given, terminal),
    }
    const made = await api.call('intelligence.silence.create', input, toRequestOptions(given))
    printResult(terminal, given.json, made, () => formatSilence(terminal, made))
    return 0
  },
})

type SilencePeriodInput = {
  readonly from: string | undefined
  readonly until: string | undefined
  readonly for: number | undefined
  readonly idempotencyKey: string | undefined
}

/** A repeat must say the same, which a clock does not. */
function resolveSilenceEnd({ from, until, for: seconds, idempotencyKey }: SilencePeriodInput): string {
  if ((until === undefined) === (seconds === undefined))
    throw new CommandFailure(2, 'say --until or --for: one of them')
  if (until !== undefined) return until
  if (idempotencyKey !== undefined && from === undefined)
    throw new CommandFailure(
      2,
      '--idempotency-key needs --until, or --from beside --for, so that a repeat says the same',
    )
  return new Date((from === undefined ? Date.now() : Date.parse(from)) + (seconds ?? 0) * 1_000).toISOString()
}
