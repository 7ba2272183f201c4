// Silences signals for a time.
import { classificationOptions, classificationWhereSaid } from '../../../classification.ts'
import { command, Failure } from '../../../command.ts'
import { show } from '../../../output.ts'
import { duration, instant, names, needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'
import { createOptions, extrasOf } from '../../../signal-options.ts'
import { silenceText } from '../../../silence-text.ts'

export const definition = command({
  words: 'signal silence create',
  summary: 'keep signals that match out of plain lists for a time; they are stored as ever',
  notes:
    'A signal matches when each option that is given names its value; values between commas are alternatives, and * at the end of a type, subject or source name stands for the rest.',
  options: {
    type: names('TYPE,...', 'of these types'),
    severity: names('SEVERITY,...', 'of these severities'),
    subjectType: names('TYPE,...', 'about these kinds of things'),
    subject: names('ID,...', 'about these subjects'),
    sourceType: names('TYPE,...', 'from these kinds of sources'),
    sourceName: names('NAME,...', 'from these sources'),
    reason: needed(text('TEXT', 'why')),
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
    const api = await service(given, terminal)
    const input = {
      ...{ reason, comment, owner, starts_at, ends_at: endOf(given) },
      matchers: Object.fromEntries(Object.entries(matchers).filter(([, values]) => values.length > 0)),
      classification: await classificationWhereSaid(given, terminal),
    }
    const made = await api.call('intelligence.silence.create', input, extrasOf(given))
    show(terminal, given.json, made, () => silenceText(terminal, made))
    return 0
  },
})

type Asked = {
  readonly from: string | undefined
  readonly until: string | undefined
  readonly for: number | undefined
  readonly idempotencyKey: string | undefined
}

/** A repeat must say the same, which a clock does not. */
function endOf({ from, until, for: seconds, idempotencyKey }: Asked): string {
  if ((until === undefined) === (seconds === undefined)) throw new Failure(2, 'say --until or --for: one of them')
  if (until !== undefined) return until
  if (idempotencyKey !== undefined && from === undefined)
    throw new Failure(2, '--idempotency-key needs --until, or --from beside --for, so that a repeat says the same')
  return new Date((from === undefined ? Date.now() : Date.parse(from)) + (seconds ?? 0) * 1_000).toISOString()
}
