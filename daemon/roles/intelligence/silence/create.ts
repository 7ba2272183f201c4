// Creates a silence: matching signals that arrive during it are stored and hidden from plain lists.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { classification, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { settings } from '../settings.ts'
import { max_silences, type StoredSilence, silence, silences, storedSilence } from './model.ts'
import { resolveSpan } from './rules.ts'
import { maySee, showSilence } from './view.ts'

const { matchers, reason, comment } = storedSilence.shape
const offsetInstant = z.iso.datetime({ offset: true })
const input = z.strictObject({
  ...{ matchers, reason, comment },
  owner: shortText.optional().meta({ description: 'Person responsible for it; default: the caller' }),
  starts_at: offsetInstant.optional().meta({ description: 'Default, and for a past time: now' }),
  ends_at: offsetInstant,
  classification: classification.optional(),
})

export const create = operation({
  ...objectPaths('signal-silence'),
  summary: 'Silence matching signals for a time: they are stored, and hidden from plain lists',
  method: 'POST',
  tool: 'signal_silence_create',
  input,
  output: silence,
  status: 201,
  errors: ['wrong_state', 'label_denied', 'idempotency_mismatch'],
  allow: 'intelligence:silence',
  creates: true,
  versioned: true,

  async run(call, { classification: requestedClassification, ...fields }) {
    const id = call.newId('sil')
    const before = call.idempotency_key === undefined ? undefined : await call.store(silences).find(id)
    if (before) return answerRepeatedRequest(call, before)
    const label = resolveClassification(call, requestedClassification ?? call.site.default_level)
    if (isRefusal(label)) return label
    const span = resolveSpan(fields, call.now(), call.settings(settings).silence_days)
    if (isRefusal(span)) return span
    if ((await call.store(silences).count({ until_ts: { gt: call.now() } })) >= max_silences)
      return refuse('wrong_state', `${max_silences} silences are pending or active, the maximum: end some first`)
    const value = buildSilence(call, label, fields, span)
    const { owner, reason, ends_at } = value
    const event = call.audited(call.address, id, { owner, reason, ends_at }, label)
    const stored = await call.store(silences).create(id, value, [event])
    return stored === 'exists'
      ? answerRepeatedRequest(call, await call.store(silences).get(id))
      : showSilence(call, stored)
  },
})

function buildSilence(
  call: Call,
  silence_label: Label,
  { matchers: matcherValues, reason, comment: commentText, owner }: Omit<z.output<typeof input>, 'classification'>,
  span: Pick<StoredSilence, 'starts_ts' | 'until_ts'>,
): StoredSilence {
  const { tenant_id, subject: created_by, clearance } = call.caller
  const at = call.nowIso()
  return {
    ...{ tenant_id, silence_label, created_by, created_at: at, updated_at: at, request_digest: call.requestDigest() },
    ...{
      matchers: matcherValues,
      owner: owner ?? created_by,
      reason,
      ...(commentText === undefined ? {} : { comment: commentText }),
    },
    ...{ starts_at: new Date(span.starts_ts).toISOString(), ends_at: new Date(span.until_ts).toISOString(), ...span },
    ...(clearance ? { clearance } : {}),
  }
}

function answerRepeatedRequest(call: Call, before: Doc<StoredSilence>) {
  if (before.value.request_digest === call.requestDigest() && maySee(call, before.value))
    return showSilence(call, before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
