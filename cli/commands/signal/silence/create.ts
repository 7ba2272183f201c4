// Silences signals for a time.

import { formatSilence } from '../../../format/silence.ts'
import { classificationOptions, resolveOptionalClassification } from '../../../options/classification.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { createOptions, toRequestOptions } from '../../../options/signal-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { duration, instant, nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal silence create',
  summary: 'Hide matching signals from plain lists for a time; they are still stored',
  notes:
    'A signal matches if it matches every given option. Values separated by commas are alternatives; a * at the end of a type, subject or source name matches any rest.',
  options: {
    type: nameList('TYPE,...', 'Signals of these types'),
    severity: nameList('SEVERITY,...', 'Signals of these severities'),
    subjectType: nameList('TYPE,...', 'Signals about these types of subject'),
    subject: nameList('ID,...', 'Signals about these subjects'),
    sourceType: nameList('TYPE,...', 'Signals from these kinds of source'),
    sourceName: nameList('NAME,...', 'Signals from these sources'),
    reason: required(text('TEXT', 'Reason for the silence')),
    comment: text('TEXT', 'Further comment'),
    owner: text('NAME', 'Person responsible for the silence (default: you)'),
    from: instant('TIME', 'Start (default: now)'),
    until: instant('TIME', 'End; or give --for'),
    for: duration('TIME', 'Duration from the start; or give --until'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform signal silence create --source-name "buoy-*" --for 8h --reason "the buoys are serviced"',
  async run(params, terminal) {
    const { reason, comment, owner, from: starts_at } = params
    const matchers = {
      ...{ signal_type: params.type, severity: params.severity, subject_type: params.subjectType },
      ...{ subject_id: params.subject, source_type: params.sourceType, source_name: params.sourceName },
    }
    const api = await connectService(params, terminal)
    const input = {
      ...{ reason, comment, owner, starts_at, ends_at: resolveSilenceEnd(params) },
      matchers: Object.fromEntries(Object.entries(matchers).filter(([, values]) => values.length > 0)),
      classification: await resolveOptionalClassification(params, terminal),
    }
    const created = await api.call('intelligence.silence.create', input, toRequestOptions(params))
    printResult(terminal, params.json, created, () => formatSilence(terminal, created))
    return 0
  },
})

type SilencePeriodInput = {
  readonly from: string | undefined
  readonly until: string | undefined
  readonly for: number | undefined
  readonly idempotencyKey: string | undefined
}

/** A retry must send the same content, so an end relative to the current time is refused there. */
function resolveSilenceEnd({ from, until, for: seconds, idempotencyKey }: SilencePeriodInput): string {
  if ((until === undefined) === (seconds === undefined)) throw new CommandFailure(2, 'give either --until or --for')
  if (until !== undefined) return until
  if (idempotencyKey !== undefined && from === undefined)
    throw new CommandFailure(
      2,
      '--idempotency-key needs --until, or --from with --for, so that a retry sends the same content',
    )
  return new Date((from === undefined ? Date.now() : Date.parse(from)) + (seconds ?? 0) * 1_000).toISOString()
}
