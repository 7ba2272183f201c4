// Checks the body: the signed bytes, a label that may cross, and a shape that a guard can read.
import { canonicalJson, sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { strictJsonReading } from '../../../../daemon/kernel/encoding/strict-json.ts'
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import { label } from '../../../../daemon/kernel/label/label.ts'
import { bodyLimits } from '../../../../daemon/kernel/messaging/body-limits.ts'
import { messageBody, unlabelledBody } from '../../../../daemon/kernel/messaging/statement.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { announcementFault } from './announcement-check.ts'
import { shapeFault } from './file-checks.ts'
import type { MessageDestination } from './message-checks.ts'
import { fileBytes, isWaived, type MessageExamination, requireEstablished } from './message-examination.ts'
import { admitPeerLabel, admitReleasedLabel, releasedLabel } from './released-label.ts'

/** A computation for `runInSlices`, as `contentCheck` is. */
export function* digestCheck(
  examination: MessageExamination,
): Generator<undefined, MessageFault | undefined, undefined> {
  yield
  const { sha384: declared, length } = requireEstablished(examination, 'statement').body
  const body = fileBytes(examination.body)
  if (body.length !== length)
    return fault('BODY_DIGEST', `the body has ${body.length} bytes, and the statement declares ${length}`)
  return sha384(body) === declared
    ? undefined
    : fault('BODY_DIGEST', 'the digest of the body differs from the signed digest')
}

export function labelCheck(examination: MessageExamination, destination: MessageDestination): MessageFault | undefined {
  const own = requireEstablished(examination, 'statement').label ?? undefined
  const named = releasedLabel(examination)
  if (own === undefined && !named) return fault('LABEL_MISSING', 'a missing label is a denial')
  const parsed = named ?? label.safeParse(own).data
  if (!parsed) return fault('LABEL_DENIED', 'the label cannot be read')
  examination.label = parsed
  const entered = named
    ? admitReleasedLabel(named, examination, destination)
    : admitPeerLabel(parsed, examination, destination)
  if (isRefusal(entered)) return fault('LABEL_DENIED', entered.message)
  examination.translated_label = entered
  return undefined
}

/** A computation for `runInSlices`: a body may have 4 MiB. */
export function* contentCheck(
  examination: MessageExamination,
): Generator<undefined, MessageFault | undefined, undefined> {
  yield
  const read = yield* strictJsonReading(fileBytes(examination.body), bodyLimits)
  yield
  if (read.outcome === 'incomplete') return fault('BAD_JSON', 'the body does not end')
  if (read.outcome !== 'value') return fault(read.outcome, `the body: ${read.detail}`)
  const mayLackLabel = isWaived(examination, 'LABEL_MISSING')
  if (!mayLackLabel && !hasLabel(read.value)) return fault('LABEL_MISSING', 'the body does not repeat the label')
  const parsed = (mayLackLabel ? unlabelledBody : messageBody).safeParse(read.value)
  if (!parsed.success) return shapeFault('the body', parsed.error, 'SCHEMA')
  const signed = requireEstablished(examination, 'statement')
  const signedLabel = examination.label ?? label.safeParse(signed.label).data
  if (!signedLabel) return fault('LABEL_MISSING', 'the statement has no label that can be read')
  const repeated = parsed.data.label ?? signedLabel
  if (!releasedLabel(examination) && canonicalJson(repeated) !== canonicalJson(signedLabel)) {
    return fault('LABEL_DENIED', 'the label of the body is not that of the statement')
  }
  if (parsed.data.schema !== signed.body.schema) return fault('SCHEMA', 'the body names another schema')
  examination.content = { ...parsed.data, label: repeated }
  return announcementFault(examination)
}

function hasLabel(value: unknown): boolean {
  return typeof value !== 'object' || value === null || ('label' in value && value.label != null)
}
